/** Reads the facts of a campaign that is over. */
import { eventually } from '@tailrace/testing';
import { readAll, headerOf } from '../support/kafka/topics.ts';
import { movesIn, trailsOf } from '../support/oracle/evidence.ts';
import { eventIdIn } from '../support/oracle/ledger.ts';
import type { Disruption } from '../support/oracle/repeats.ts';
import { askAt } from '../support/processes/control.ts';
import type { LogLine } from '../support/processes/process.ts';
import { rightTime, setsClock } from './clocks.ts';
import type { Episode, Explanation, Facts, Send, Written } from './facts.ts';
import { partiesOf, type Service } from './schedule.ts';
import { retryDelaysMs, type Stage } from './stage.ts';

/** More partitions than any topic of a campaign has. */
const allPartitions = new Set(Array.from({ length: 32 }, (_, partition) => partition));
const explainedEvents = 100;

export async function gather(
  stage: Stage,
  sends: readonly Send[],
  episodes: readonly Episode[],
  explanations: readonly Explanation[],
  crashes: readonly string[],
): Promise<Facts> {
  const { kafka, names, ledger, destinations, changes, deletions } = stage;
  await ledger.verdict();
  const decisions = await stage.decided();
  const events = await readAll(kafka, names.events);
  const records = await readAll(kafka, names.deliveries);
  const copies = (
    await Promise.all(retryDelaysMs.map((delayMs) => readAll(kafka, names.retryTier(delayMs))))
  ).flat();
  const logs = logsOf(stage, 'delivery', episodes);
  const { entries } = ledger;
  return {
    sends,
    destinations,
    entries,
    decisions,
    calls: events.flatMap(({ value, timestamp: at }) => {
      const eventId = eventIdIn(value);
      return eventId.startsWith('event-') ? [{ eventId, at }] : [];
    }),
    written: records.map((record): Written => {
      const header = (name: string): string => headerOf(record, name) ?? '';
      const { partition, offset, timestamp: at } = record;
      // `<partition>/<offset>`.
      const eventPartition = parseInt(header('event-position'));
      const ids = { eventId: header('event-id'), destinationId: header('destination-id') };
      return { ...ids, partition, offset, eventPartition, at };
    }),
    changes,
    deletions,
    episodes,
    trails: trailsOf({ entries, written: records, copies, logs }),
    disruptions: [...movesIn(logs, names.deliveries), ...disruptionsOf('delivery', episodes)],
    routerDisruptions: [
      ...movesIn(logsOf(stage, 'router', episodes), names.events),
      ...disruptionsOf('router', episodes),
    ],
    explanations,
    readings: stage.meter.readings,
    crashes: [...crashes, ...fatalLines(stage)],
  };
}

/** During a fault of a replica, of a broker, or of the link between them, nothing may have been committed. */
function disruptionsOf(service: Service, episodes: readonly Episode[]): Disruption[] {
  return episodes.flatMap(({ fault, beganAt, endedAt, settledAt }): Disruption[] => {
    const parties = partiesOf(fault.target);
    const concerned = parties.some((party) => party.startsWith(`${service}-`));
    const isOfBrokers = parties.every((party) => party.startsWith('broker-'));
    if (!concerned && !isOfBrokers) return [];
    if (fault.kind === 'service killed')
      return [{ kind: 'killed', partitions: allPartitions, from: beganAt, until: endedAt }];
    return [{ kind: 'cut off', partitions: allPartitions, from: beganAt, until: settledAt }];
  });
}

/** The logs of all replicas of a service, with right times. */
function logsOf(stage: Stage, service: Service, episodes: readonly Episode[]): LogLine[][] {
  return stage.pods[service].all.map(({ process }) => {
    const wrong = episodes.filter(({ fault }) => {
      return setsClock(fault) && stage.replicaOf.get(process) === fault.target;
    });
    return process.log.items.map((line) => rightTimes(line, wrong));
  });
}

/** The line with the right times, where it was written while the clock was wrong. */
function rightTimes(line: LogLine, wrong: readonly Episode[]): LogLine {
  const right = (text: unknown): unknown => {
    const [at] = wrong.flatMap((episode) => rightTime(episode, Date.parse(String(text))) ?? []);
    return at === undefined ? text : new Date(at).toISOString();
  };
  if (wrong.length === 0) return line;
  const { time, startedAt } = line;
  return { ...line, time: right(time), ...(startedAt !== undefined && { startedAt: right(startedAt) }) };
}

function fatalLines({ pods }: Stage): string[] {
  return Object.entries(pods).flatMap(([service, { all }]) =>
    all.flatMap(({ process }) =>
      process.log.items
        .filter(({ level, msg }) => level === 'fatal' || msg === 'request failed')
        .map((line) => `${service} logged ${JSON.stringify(line).slice(0, 400)}`),
    ),
  );
}

interface Traced {
  readonly outcome: string;
  readonly behind: number;
  readonly deliveries: readonly { readonly destinationId: string; readonly status: string }[];
  /** The release before has none. */
  readonly decisions?: readonly {
    readonly filtered: readonly { readonly destinations: readonly string[] }[];
  }[];
}

/** Asks the API about some events, spread over all, until its history has read everything and their deliveries have an end. */
export async function explain({ pods }: Stage, sends: readonly Send[]): Promise<Explanation[]> {
  const step = Math.max(1, Math.floor(sends.length / explainedEvents));
  const chosen = sends.filter((_, nth) => nth % step === 0).map(({ call }) => call.messageId);
  const traced = new Map<string, Traced>();
  const isOver = (eventId: string): boolean => {
    const { behind = 1, deliveries = [] } = traced.get(eventId) ?? {};
    return behind === 0 && !deliveries.some(({ status }) => status === 'waiting' || status === 'retrying');
  };
  const over = eventually(async () => {
    for (const eventId of chosen) {
      if (isOver(eventId)) continue;
      const url = pods.control.next()?.url ?? '';
      const answer = await askAt(url, { path: `/v1/events/${eventId}` }).catch(() => undefined);
      if (answer?.status === 200) traced.set(eventId, answer.json as unknown as Traced);
    }
    return chosen.every(isOver);
  });
  // What has no end by then is judged as it is.
  await over.catch(() => undefined);
  return [...traced].map(([eventId, { outcome, deliveries, decisions = [] }]) => {
    const filtered = decisions.flatMap(({ filtered }) =>
      filtered.flatMap(({ destinations }) => destinations),
    );
    const ends = {
      ...Object.fromEntries(filtered.map((id) => [id, 'filtered'])),
      ...Object.fromEntries(deliveries.map(({ destinationId, status }) => [destinationId, status])),
    };
    return { eventId, outcome, ends };
  });
}
