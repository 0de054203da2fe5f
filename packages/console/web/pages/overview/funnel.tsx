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
  readonly href: string;
  readonly isExit: boolean;
}

function stepsOf({ total, since, until }: Schema['Overview']): Step[] {
  const { received, blocked, unconnected, delivered, dead, retrying, waiting, canceled, unknown } = total;
  const { filtered, deadReasons, canceledReasons } = total;
  const made = delivered + dead + retrying + waiting + canceled + unknown;
  const routed = made + filtered.reduce((sum, { count }) => sum + count, 0);
  const all = hrefOf(['deliveries'], { since, until });
  const list = (status: string): string => hrefOf(['deliveries'], { status, since, until });
  const notSent = (reason: string): string => hrefOf(['filtered'], { reason, since, until });
  const said = (reason: string): string => lookUp(text.reasons, reason) ?? reason;
  const exits = (steps: readonly Omit<Step, 'isExit'>[]): Step[] =>
    steps.filter(({ count }) => count > 0).map((step) => ({ ...step, isExit: true }));
  return [
    { label: 'Events received', count: received, of: received, tone: 'accent', href: all, isExit: false },
    ...exits([
      {
        label: "blocked by the source's schema",
        count: blocked,
        of: received,
        tone: 'neutral',
        href: notSent('schema'),
      },
      {
        label: 'source has no connected destination',
        count: unconnected,
        of: received,
        tone: 'neutral',
        href: notSent('no-destination'),
      },
    ]),
    { label: 'Deliveries created', count: made, of: routed, tone: 'accent', href: all, isExit: false },
    ...exits(
      filtered.map(({ reason, count }) => ({
        label: `not delivered: ${said(reason)}`,
        count,
        of: routed,
        tone: 'neutral',
        href: notSent(reason),
      })),
    ),
    {
      label: 'Delivered',
      count: delivered,
      of: made,
      tone: 'good',
      href: list('delivered'),
      isExit: false,
    },
    ...exits([
      { label: 'waiting for first attempt', count: waiting, of: made, tone: 'accent', href: list('waiting') },
      { label: 'retrying', count: retrying, of: made, tone: 'warning', href: list('retrying') },
      { label: 'outcome unknown', count: unknown, of: made, tone: 'neutral', href: list('unknown') },
      ...deadReasons.map(({ reason, count }) => ({
        label: `dead: ${said(reason)}`,
        count,
        of: made,
        tone: 'bad' as const,
        href: hrefOf(['replays'], { reason }),
      })),
      ...canceledReasons.map(({ reason, count }) => ({
        label: `canceled: ${said(reason)}`,
        count,
        of: made,
        tone: 'neutral' as const,
        href: hrefOf(['replays'], { reason }),
      })),
    ]),
  ];
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
  return (
    <p class="quiet small funnel-lists">
      Received events are in two lists:{' '}
      <a href={hrefOf(['deliveries'], { since, until })}>events with deliveries</a> (one row per destination)
      and{' '}
      <a href={hrefOf(['filtered'], { since, until })}>
        events that a destination did not receive, or that had no destination
      </a>{' '}
      (also one row per destination). An event can be in both. A blocked event without a destination is in
      neither.
    </p>
  );
}
