/** The way of all events: each step with its exits, each exit with its reason, as long as its share. */
import type { Schema } from '../../api/client.ts';
import { formatCount, formatShare } from '../../parts/format.ts';
import type { Tone } from '../../parts/status.tsx';
import { text } from '../../text/index.ts';
import { lookUp } from '../../text/look-up.ts';
import { hrefOf } from '../../url/location.ts';

interface Step {
  readonly label: string;
  readonly count: number;
  readonly of: number;
  readonly tone: Tone;
  readonly href?: string;
  readonly isExit: boolean;
}

function stepsOf({ total, since, until }: Schema['Overview']): Step[] {
  const { received, blocked, unconnected, delivered, dead, retrying, waiting, unknown } = total;
  const { filtered, deadReasons } = total;
  const made = delivered + dead + retrying + waiting + unknown;
  const notMade = filtered.reduce((sum, { count }) => sum + count, 0);
  const list = (status: string): string => hrefOf(['deliveries'], { status, since, until });
  const notSent = (reason: string): string => hrefOf(['filtered'], { reason, since, until });
  const said = (reason: string): string => lookUp(text.reasons, reason) ?? reason;
  const exit = { isExit: true };
  const steps: Step[] = [
    {
      label: text.overview.received,
      count: received,
      of: received,
      tone: 'accent',
      href: hrefOf(['deliveries'], { since, until }),
      isExit: false,
    },
    {
      label: text.overview.blocked,
      count: blocked,
      of: received,
      tone: 'neutral',
      href: notSent('schema'),
      ...exit,
    },
    {
      label: text.overview.unconnected,
      count: unconnected,
      of: received,
      tone: 'neutral',
      href: notSent('no-destination'),
      ...exit,
    },
    {
      label: text.overview.made,
      count: made,
      of: made + notMade,
      tone: 'accent',
      href: hrefOf(['deliveries'], { since, until }),
      isExit: false,
    },
    ...filtered.map(({ reason, count }) => ({
      label: text.overview.filteredBy(said(reason)),
      count,
      of: made + notMade,
      tone: 'neutral' as const,
      href: notSent(reason),
      ...exit,
    })),
    {
      label: text.overview.delivered,
      count: delivered,
      of: made,
      tone: 'good',
      href: list('delivered'),
      isExit: false,
    },
    {
      label: text.overview.waiting,
      count: waiting,
      of: made,
      tone: 'accent',
      href: list('waiting'),
      ...exit,
    },
    {
      label: text.overview.retrying,
      count: retrying,
      of: made,
      tone: 'warning',
      href: list('retrying'),
      ...exit,
    },
    {
      label: text.overview.unknown,
      count: unknown,
      of: made,
      tone: 'neutral',
      href: list('unknown'),
      ...exit,
    },
    ...deadReasons.map(({ reason, count }) => ({
      label: `${text.overview.dead}: ${said(reason)}`,
      count,
      of: made,
      tone: 'bad' as const,
      href: hrefOf(['replays'], { reason }),
      ...exit,
    })),
  ];
  return steps.filter(({ isExit, count }) => !isExit || count > 0);
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
      <ol class="funnel">
        {stepsOf(overview).map(({ label, count, of, tone, href, isExit }) => (
          <li key={label} class={isExit ? 'exit' : ''}>
            <a href={href}>{label}</a>
            <span class="bar" aria-hidden="true">
              <span class={tone} style={{ width: `${of === 0 ? 0 : Math.max(0.5, (count / of) * 100)}%` }} />
            </span>
            <span class="numeric">{formatCount(count)}</span>
            <span class="numeric quiet small">{formatShare(count, of)}</span>
          </li>
        ))}
      </ol>
      <ReceivedLists since={overview.since} until={overview.until} />
    </>
  );
}

/** No list has all events received: one has those with deliveries, another those that a destination did not get. */
function ReceivedLists({ since, until }: Partial<Pick<Schema['Overview'], 'since' | 'until'>>) {
  const words = text.overview;
  return (
    <p class="quiet small funnel-lists">
      {words.receivedIn} <a href={hrefOf(['deliveries'], { since, until })}>{words.receivedRouted}</a>{' '}
      {words.receivedRoutedHint} <a href={hrefOf(['filtered'], { since, until })}>{words.receivedFiltered}</a>{' '}
      {words.receivedFilteredHint}
    </p>
  );
}
