/** What became of all events: two groups, the parts of each as long as their share of it. */
import type { Schema } from '../../api/client.ts';
import { formatCount, formatShare } from '../../parts/format.ts';
import type { Tone } from '../../parts/status.tsx';
import { text } from '../../text/index.ts';
import { lookUp } from '../../text/look-up.ts';
import { hrefOf } from '../../url/location.ts';

interface Part {
  readonly label: string;
  readonly count: number;
  readonly tone: Tone;
  readonly href: string;
}

interface Group extends Part {
  /** Those of deliveries add up to it. */
  readonly parts: readonly Part[];
}

function groupsOf({ total, since, until }: Schema['Overview']): readonly Group[] {
  const { received, blocked, unconnected, delivered, dead, retrying, waiting, canceled, unknown } = total;
  const { filtered, deadReasons, canceledReasons } = total;
  const made = delivered + dead + retrying + waiting + canceled + unknown;
  const all = hrefOf(['deliveries'], { since, until });
  const list = (status: string): string => hrefOf(['deliveries'], { status, since, until });
  const notSent = (reason: string): string => hrefOf(['filtered'], { reason, since, until });
  const replays = (reason: string): string => hrefOf(['replays'], { reason });
  const said = (reason: string): string => lowerFirst(lookUp(text.reasons, reason) ?? reason);
  const part = (label: string, count: number, tone: Tone, href: string): Part => ({
    label,
    count,
    tone,
    href,
  });
  return [
    {
      ...part('Events received', received, 'accent', all),
      parts: [
        part("blocked by the source's schema", blocked, 'neutral', notSent('schema')),
        part('source has no connected destination', unconnected, 'neutral', notSent('no-destination')),
      ],
    },
    {
      ...part('Deliveries', made + filtered.reduce((sum, { count }) => sum + count, 0), 'accent', all),
      parts: [
        part('delivered', delivered, 'good', list('delivered')),
        part('waiting for first attempt', waiting, 'accent', list('waiting')),
        part('retrying', retrying, 'warning', list('retrying')),
        part('outcome unknown', unknown, 'neutral', list('unknown')),
        ...deadReasons.map(({ reason, count }) =>
          part(`dead: ${said(reason)}`, count, 'bad', replays(reason)),
        ),
        ...canceledReasons.map(({ reason, count }) =>
          part(`canceled: ${said(reason)}`, count, 'neutral', replays(reason)),
        ),
        ...filtered.map(({ reason, count }) =>
          part(`not delivered: ${said(reason)}`, count, 'neutral', notSent(reason)),
        ),
      ],
    },
  ];
}

/** Within a sentence. */
function lowerFirst(sentence: string): string {
  return sentence.charAt(0).toLowerCase() + sentence.slice(1);
}

export function Funnel({ overview }: { readonly overview: Schema['Overview'] | undefined }) {
  if (!overview) {
    return (
      <>
        <div class="skeleton funnel-skeleton" />
        <ReceivedLists />
      </>
    );
  }
  return (
    <>
      <ul class="funnel">
        {groupsOf(overview).map(({ parts, ...group }) => (
          <li key={group.label}>
            <Line {...group} of={group.count} />
            <ul>
              {parts
                .filter(({ count }) => count > 0)
                .map((part) => (
                  <li key={part.label}>
                    <Line {...part} of={group.count} />
                  </li>
                ))}
            </ul>
          </li>
        ))}
      </ul>
      <ReceivedLists since={overview.since} until={overview.until} />
    </>
  );
}

function Line({ label, count, tone, href, of }: Part & { readonly of: number }) {
  return (
    <div class="line">
      <a href={href}>{label}</a>
      <span class="bar" aria-hidden="true">
        <span class={tone} style={{ width: `${of === 0 ? 0 : Math.max(0.5, (count / of) * 100)}%` }} />
      </span>
      <span class="numeric">{formatCount(count)}</span>
      <span class="numeric quiet small">{formatShare(count, of)}</span>
    </div>
  );
}

/** No list has all events received: one has those with deliveries, another those that a destination did not get. */
function ReceivedLists({ since, until }: Partial<Pick<Schema['Overview'], 'since' | 'until'>>) {
  return (
    <p class="quiet small funnel-lists">
      An event has one delivery for each destination. Two lists show them:{' '}
      <a href={hrefOf(['deliveries'], { since, until })}>events with deliveries</a> and{' '}
      <a href={hrefOf(['filtered'], { since, until })}>events that a destination did not receive</a>. An event
      can be in both.
    </p>
  );
}
