/** The figures of a campaign: as a table, and as a piece of Markdown. */
import { distribution } from '../bench/figures/statistics.ts';
import { table, tenths, whole, type Row } from '../bench/figures/table.ts';
import { owedTo } from '../support/oracle/ledger.ts';
import type { Cause } from '../support/oracle/repeats.ts';
import type { Episode, Facts, Send } from './facts.ts';
import type { Violation } from './oracle.ts';
import type { Outcome } from './run.ts';
import { kinds, type Kind, type Plan } from './schedule.ts';

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

/** Milliseconds, of each fault of a kind. */
interface KindFigures {
  readonly kind: Kind;
  readonly count: number;
  /** The longest time in which an event that was sent during the fault arrived at a healthy receiver. */
  readonly waitsMs: readonly number[];
  /** See {@link recoveryMs}; empty where faults overlap. */
  readonly recoveriesMs: readonly number[];
}

export function figuresOf(
  { facts, verdict, notRun }: Omit<Outcome, 'logs'>,
  { ratePerSecond, apart = false }: Pick<Plan, 'ratePerSecond' | 'apart'>,
): Figures {
  const { violations, repeats } = verdict;
  const { sends, entries, decisions, episodes } = facts;
  const delivered = new Set(entries.filter(({ what }) => what === 'delivered').map(owedTo));
  const dead = new Set(entries.filter(({ what }) => what === 'dead').map(owedTo));
  const arrivals = firstArrivals(facts);
  const times = [...arrivals.values()].sort((a, b) => a - b);
  const recoveries = episodes.map(({ fault, beganAt, endedAt }, nth) => {
    const until = episodes[nth + 1]?.beganAt ?? sends.at(-1)?.askedAt ?? NaN;
    const from = isSudden.has(fault.kind) ? beganAt : endedAt;
    return recoveryMs(times, ratePerSecond, { from, until });
  });
  const byKind = Map.groupBy(episodes.entries(), ([, { fault }]) => fault.kind);
  return {
    events: sends.length,
    faults: episodes.length,
    delivered: delivered.size,
    dead: [...dead].filter((owed) => !delivered.has(owed)).length,
    decided: new Set(decisions.map(owedTo)).size,
    lost: violations.filter(({ rule }) => rule === 'lost').length,
    repeats,
    byKind: Array.from(byKind, ([kind, its]) => ({
      kind,
      count: its.length,
      waitsMs: its.flatMap(([, episode]) => longestWaitMs(episode, facts, arrivals) ?? []),
      recoveriesMs: apart ? its.map(([nth]) => recoveries[nth] ?? NaN) : [],
    })),
    notRun: [...new Set(notRun.map(({ kind }) => kind))],
    violations,
  };
}

/** The figures of several runs. */
export function sumOf(all: readonly Figures[]): Figures {
  const sum = (figure: (one: Figures) => number): number => all.reduce((sum, one) => sum + figure(one), 0);
  const causes = Object.keys(all[0]?.repeats ?? {}) as Cause[];
  const byKind = Map.groupBy(
    all.flatMap((one) => one.byKind),
    ({ kind }) => kind,
  );
  return {
    events: sum(({ events }) => events),
    faults: sum(({ faults }) => faults),
    delivered: sum(({ delivered }) => delivered),
    dead: sum(({ dead }) => dead),
    decided: sum(({ decided }) => decided),
    lost: sum(({ lost }) => lost),
    repeats: Object.fromEntries(
      causes.map((cause) => [cause, sum(({ repeats }) => repeats[cause])]),
    ) as Figures['repeats'],
    byKind: kinds.flatMap((kind) => {
      const its = byKind.get(kind) ?? [];
      const count = its.reduce((sum, one) => sum + one.count, 0);
      const waitsMs = its.flatMap((one) => one.waitsMs);
      const recoveriesMs = its.flatMap((one) => one.recoveriesMs);
      return count === 0 ? [] : [{ kind, count, waitsMs, recoveriesMs }];
    }),
    notRun: [...new Set(all.flatMap(({ notRun }) => notRun))],
    violations: all.flatMap(({ violations }) => violations),
  };
}

/** By event: when it first arrived at the steady destination of its source. */
function firstArrivals({ entries, destinations }: Facts): Map<string, number> {
  const steady = new Set(destinations.filter((one) => one.steady).map(({ id }) => id));
  const first = new Map<string, number>();
  for (const { what, eventId, destinationId, at } of entries) {
    if (what === 'delivered' && steady.has(destinationId) && !first.has(eventId)) first.set(eventId, at);
  }
  return first;
}

/** Undefined where no event was sent during the fault. */
export function longestWaitMs(
  { beganAt, settledAt }: Pick<Episode, 'beganAt' | 'settledAt'>,
  { sends }: { readonly sends: readonly Pick<Send, 'call' | 'askedAt'>[] },
  arrivals: ReadonlyMap<string, number>,
): number | undefined {
  let longest: number | undefined;
  for (const { call, askedAt } of sends) {
    const at = arrivals.get(call.messageId);
    if (at === undefined || askedAt < beganAt || askedAt > settledAt) continue;
    longest = Math.max(longest ?? 0, at - askedAt);
  }
  return longest;
}

/** These end a process at once, so the recovery begins with the fault. It begins with the end of the others. */
const isSudden: ReadonlySet<Kind> = new Set([
  'service killed',
  'service stopped',
  'history lost',
  'broker killed',
  'broker stopped',
  'disk lost',
]);
const windowMs = 1_000;
const stepMs = 100;
const recovered = 0.95;

/**
 * The time from `from` until the end of the last second that had less than 95 % of the arrivals of an undisturbed run.
 *
 * @param arrivals in ascending order
 */
export function recoveryMs(
  arrivals: readonly number[],
  ratePerSecond: number,
  { from, until }: { readonly from: number; readonly until: number },
): number {
  const enough = (recovered * ratePerSecond * windowMs) / 1_000;
  let recoveredAt = from;
  let [begin, end] = [0, 0];
  for (let at = from; at + windowMs <= until; at += stepMs) {
    while (Number(arrivals[begin]) < at) begin += 1;
    while (Number(arrivals[end]) < at + windowMs) end += 1;
    if (end - begin < enough) recoveredAt = at + windowMs;
  }
  return recoveredAt - from;
}

const headings = ['count', 'longest wait, s: p50', 'max', 'recovery, s: p50', 'max'];

function rowsOf({ byKind }: Figures): readonly Row[] {
  return byKind.map(({ kind, count, waitsMs, recoveriesMs }): Row => {
    const seconds = [waitsMs, recoveriesMs].flatMap((times) => {
      const { p50, max } = distribution(times);
      return [tenths(p50 / 1_000), tenths(max / 1_000)];
    });
    return [kind, whole(count), ...seconds];
  });
}

export function renderTable(figures: Figures): string {
  return [table(['Faults', ...headings], rowsOf(figures)), ...sentencesOf(figures)].join('\n');
}

/** For docs. */
export function renderMarkdown(title: string, figures: Figures): string {
  return [
    `## ${title}`,
    '',
    ...sentencesOf(figures).map((sentence) => `- ${sentence}`),
    '',
    `| fault | ${headings.join(' | ')} |`,
    `| ---${' | ---'.repeat(headings.length)} |`,
    ...rowsOf(figures).map((row) => `| ${row.join(' | ')} |`),
    '',
  ].join('\n');
}

/** One line. */
export function sentenceOf(figures: Figures): string {
  return sentencesOf(figures).slice(0, 5).join('; ');
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
