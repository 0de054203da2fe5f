/** The figures of a campaign: as a table, and as a piece of Markdown. */
import { distribution } from '../bench/figures/statistics.ts';
import { table, tenths, whole, type Row } from '../bench/figures/table.ts';
import { owedTo } from '../support/oracle/ledger.ts';
import type { Cause } from '../support/oracle/repeats.ts';
import type { Episode, Facts } from './facts.ts';
import type { Violation } from './oracle.ts';
import type { Outcome } from './run.ts';
import { kinds, type Kind } from './schedule.ts';

export interface Figures {
  readonly events: number;
  readonly faults: number;
  /** Deliveries by their end. */
  readonly delivered: number;
  readonly dead: number;
  readonly decided: number;
  readonly lost: number;
  readonly repeats: Readonly<Record<Cause, number>>;
  readonly byKind: readonly KindFigures[];
  readonly notRun: readonly Kind[];
  readonly violations: readonly Violation[];
}

interface KindFigures {
  readonly kind: Kind;
  readonly count: number;
  /** The longest time in which an event that was sent during the fault arrived at a healthy receiver, in milliseconds. */
  readonly recoveryMs: { readonly p50: number; readonly max: number };
}

export function figuresOf({ facts, verdict, notRun }: Omit<Outcome, 'logs'>): Figures {
  const { violations, repeats } = verdict;
  const { sends, entries, decisions, episodes } = facts;
  const delivered = new Set(entries.filter(({ what }) => what === 'delivered').map(owedTo));
  const dead = new Set(entries.filter(({ what }) => what === 'dead').map(owedTo));
  const arrivals = firstArrivals(facts);
  const byKind = Map.groupBy(episodes, ({ fault }) => fault.kind);
  return {
    events: sends.length,
    faults: episodes.length,
    delivered: delivered.size,
    dead: [...dead].filter((owed) => !delivered.has(owed)).length,
    decided: new Set(decisions.map(owedTo)).size,
    lost: violations.filter(({ rule }) => rule === 'lost').length,
    repeats,
    byKind: kinds.flatMap((kind) => {
      const its = byKind.get(kind) ?? [];
      if (its.length === 0) return [];
      const { p50, max } = distribution(its.map((episode) => recoveryMs(episode, facts, arrivals)));
      return [{ kind, count: its.length, recoveryMs: { p50, max } }];
    }),
    notRun: [...new Set(notRun.map(({ kind }) => kind))],
    violations,
  };
}

/** By event: when it first arrived at all steady destinations. */
function firstArrivals({ entries, destinations }: Facts): Map<string, number> {
  const steady = new Set(destinations.filter((one) => one.steady).map(({ id }) => id));
  const first = new Map<string, number>();
  for (const { what, eventId, destinationId, at } of entries) {
    if (what === 'delivered' && steady.has(destinationId) && !first.has(eventId)) first.set(eventId, at);
  }
  return first;
}

/** NaN where no event was sent during the fault. */
export function recoveryMs(
  { beganAt, settledAt }: Pick<Episode, 'beganAt' | 'settledAt'>,
  { sends }: Pick<Facts, 'sends'>,
  arrivals: ReadonlyMap<string, number>,
): number {
  const during = sends.filter(({ askedAt }) => askedAt >= beganAt && askedAt <= settledAt);
  const waits = during.flatMap(({ call, askedAt }) => {
    const at = arrivals.get(call.messageId);
    return at === undefined ? [] : [at - askedAt];
  });
  return waits.length === 0 ? NaN : Math.max(...waits);
}

export function renderTable(figures: Figures): string {
  const rows = figures.byKind.map(({ kind, count, recoveryMs }): Row => {
    return [kind, whole(count), tenths(recoveryMs.p50 / 1_000), tenths(recoveryMs.max / 1_000)];
  });
  return [table(['Faults', 'count', 'recovery p50, s', 'max'], rows), ...sentencesOf(figures)].join('\n');
}

/** For docs: the same without the violations' sentences. */
export function renderMarkdown(title: string, figures: Figures): string {
  const rows = figures.byKind.map(
    ({ kind, count, recoveryMs }) =>
      `| ${kind} | ${count} | ${tenths(recoveryMs.p50 / 1_000)} s | ${tenths(recoveryMs.max / 1_000)} s |`,
  );
  return [
    `## ${title}`,
    '',
    ...sentencesOf(figures).map((sentence) => `- ${sentence}`),
    '',
    '| fault | count | recovery, p50 | max |',
    '| --- | --- | --- | --- |',
    ...rows,
    '',
  ].join('\n');
}

const shownViolations = 20;

function sentencesOf(figures: Figures): string[] {
  const { events, faults, delivered, dead, decided, lost, repeats, notRun, violations } = figures;
  const causes = Object.entries(repeats).filter(([, count]) => count > 0);
  const repeated = causes.reduce((sum, [, count]) => sum + count, 0);
  const by = causes.map(([cause, count]) => `${cause} ${whole(count)}`).join(', ');
  const rules = Map.groupBy(violations, ({ rule }) => rule);
  return [
    `${whole(events)} events, ${whole(faults)} faults`,
    `${whole(delivered)} deliveries arrived, ${whole(dead)} became dead letters, ${whole(decided)} were decided against, ${whole(lost)} were lost`,
    `${whole(repeated)} repeats${by === '' ? '' : `: ${by}`}`,
    ...(notRun.length > 0 ? [`not possible here: ${notRun.join(', ')}`] : []),
    violations.length === 0
      ? 'no violations'
      : `${whole(violations.length)} violations: ${[...rules].map(([rule, list]) => `${rule} ${list.length}`).join(', ')}`,
    ...Array.from(rules.values(), (list) => list.slice(0, Math.ceil(shownViolations / rules.size)))
      .flat()
      .map(({ rule, says }) => `${rule}: ${says}`),
  ];
}
