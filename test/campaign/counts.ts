/**
 * Compares what the services have counted with what happened. Each process was read a moment before it was ended. So the sum of all may
 * lack what happened between these two, and what was unfinished then; and what happened again counts once or more.
 * Where nothing was ended in the middle and nothing repeated, a count is exact.
 */
import { funnel, type MetricName, type Term } from '@tailrace/metrics';
import { sumOf } from '../support/metrics/scrape.ts';
import { owedTo } from '../support/oracle/ledger.ts';
import { possibleTimes } from './clocks.ts';
import type { Facts, Reading } from './facts.ts';
import type { Service } from './schedule.ts';

interface Thing {
  /** The same where it happened again. */
  readonly key: string;
  readonly at: number;
  /** The value of the label by which it is counted. */
  readonly of: string;
  /** It may be missing in the count. */
  readonly isUnsure?: boolean;
}

interface Count {
  readonly service: Service;
  readonly name: MetricName;
  readonly labels?: Readonly<Record<string, string>>;
  readonly things: readonly Thing[];
  /** A gauge of what is unfinished. */
  readonly unfinished: MetricName;
  /** It counts before a thing has happened, which then may not happen. */
  readonly isEarly?: boolean;
}

/** A request may be read this long after the process was killed that sent it. */
const readLateMs = 1_000;

/** A sentence for each count that is wrong. */
export function wrongCounts(facts: Facts): readonly string[] {
  const { readings, episodes } = facts;
  const compared = countsOf(facts).flatMap(({ service, name, labels = {}, things, ...count }): string[] => {
    const its = readings.filter((reading) => reading.service === service);
    if (its.length === 0) return [];
    const sum = (term: Term): number => its.reduce((all, { series }) => all + sumOf(series, term), 0);
    const mayLack = ({ at, isUnsure = false }: Thing): boolean =>
      isUnsure ||
      possibleTimes(at, episodes).some((time) =>
        its.some(({ from, until }) => from <= time && time <= until + readLateMs),
      );
    const unfinished = sum({ name: count.unfinished });
    const counted = sum({ name, labels });
    const all = new Set(things.map(({ key }) => key));
    for (const thing of things) if (mayLack(thing)) all.delete(thing.key);
    const least = Math.max(0, all.size - unfinished);
    const most = things.length + (count.isEarly ? unfinished : 0);
    if (counted >= least && counted <= most) return [];
    const which = [name, ...Object.values(labels)].join(' ');
    return [`${which} is ${counted}, and ${least === most ? least : `${least} to ${most}`} happened`];
  });
  return [...compared, ...readings.flatMap(unequal)];
}

const published = 'tailrace_publisher_queued_records';

function countsOf({ calls, written, decisions, entries, destinations }: Facts): Count[] {
  const ofPair = (one: { readonly eventId: string; readonly destinationId: string; readonly at: number }) => {
    return { key: owedTo(one), at: one.at, of: one.destinationId };
  };
  // Of each event that is routed, the record for the destination that gets all of its source.
  const steady = new Set(destinations.filter((one) => one.steady).map(({ id }) => id));
  const routed = written.filter(({ destinationId }) => steady.has(destinationId)).map(ofPair);
  const dead = entries.filter(({ what }) => what === 'dead');
  // Its answer was lost, so it was sent again, or given up.
  const died = new Set(dead.map(owedTo));
  const delivered = entries
    .filter(({ what }) => what === 'delivered')
    .map((one) => ({ ...ofPair(one), isUnsure: died.has(owedTo(one)) }));
  const created: Count = {
    service: 'router',
    name: 'tailrace_deliveries_created_total',
    things: written.map(ofPair),
    unfinished: published,
  };
  const filtered: Count = {
    service: 'router',
    name: 'tailrace_deliveries_filtered_total',
    things: decisions.map((one) => ({ ...ofPair(one), of: one.reason })),
    unfinished: published,
    isEarly: true,
  };
  const deadLetters: Count = {
    service: 'delivery',
    name: 'tailrace_dead_letters_total',
    things: dead.map((one) => ({ ...ofPair(one), of: one.reason ?? '' })),
    unfinished: published,
  };
  // A request that is reset may be sent again in the same attempt, so other attempts are not compared.
  const succeeded: Count = {
    service: 'delivery',
    name: 'tailrace_delivery_attempts_total',
    labels: { outcome: 'delivered' },
    things: delivered,
    unfinished: 'tailrace_deliveries_in_flight',
  };
  return [
    {
      service: 'ingest',
      name: 'tailrace_ingest_calls_total',
      things: calls.map(({ eventId: key, at }) => ({ key, at, of: '' })),
      unfinished: published,
    },
    {
      service: 'router',
      name: 'tailrace_events_routed_total',
      things: routed,
      unfinished: published,
      isEarly: true,
    },
    created,
    ...partsOf(created, 'destination_id', 'tailrace_destination_deliveries_created_total'),
    filtered,
    ...partsOf(filtered, 'reason'),
    succeeded,
    ...partsOf(succeeded, 'destination_id', 'tailrace_destination_attempts_total'),
    deadLetters,
    ...partsOf(deadLetters, 'reason'),
  ];
}

/** The same count for each value of a label, where it has a name of its own perhaps. */
function partsOf(whole: Count, label: string, name: MetricName = whole.name): Count[] {
  return Array.from(
    Map.groupBy(whole.things, ({ of }) => of),
    ([value, things]) => ({ ...whole, name, things, labels: { ...whole.labels, [label]: value } }),
  );
}

/** What has come in at a process without work has gone out. What delivery ends may be counted by another replica. */
function unequal({ service, series, isIdle }: Reading): string[] {
  if (!isIdle) return [];
  const sum = (terms: readonly Term[]): number => terms.reduce((all, term) => all + sumOf(series, term), 0);
  return funnel
    .filter((equation) => equation.service === service && service !== 'delivery')
    .filter(({ left, right }) => sum(left) !== sum(right))
    .map(({ left, right }) => {
      const [came, went] = [left, right].map((terms) => terms.map(({ name }) => name).join(' + '));
      return `${service} has ${came} ${sum(left)}, and ${went} ${sum(right)}`;
    });
}
