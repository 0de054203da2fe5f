/** Counts of deliveries, in total and for each destination. Plain numbers, because every attempt is counted twice. */
import type { PageMetric, PageSample } from '@tailrace/service';
import type { AttemptRecord } from '@tailrace/topics';
import type { DeadReason } from '../outcome.ts';

type Outcome = AttemptRecord['outcome'];

/** Counts by reason. Undefined until the first one, because most destinations have none. */
type ByReason = Map<string, number> | undefined;

export class DeliveryCounts {
  /** Attempts that delivered, and failed ones by outcome and reason. */
  delivered = 0;
  failed: Partial<Record<Outcome, ByReason>> = {};
  attempts = 0;
  attemptMs = 0;
  /** The sum of the ages of delivered events, from their acceptance. */
  ageMs = 0;
  deadLetters: ByReason;
  /** Deliveries written to a retry topic without an attempt. */
  deferred = 0;
  behind = 0;
  parked = 0;

  attempted({ outcome, reason = '', latencyMs }: AttemptRecord, ageMs: number): void {
    this.attempts += 1;
    this.attemptMs += latencyMs;
    if (outcome === 'delivered') {
      this.delivered += 1;
      this.ageMs += ageMs;
    } else {
      this.failed[outcome] = incremented(this.failed[outcome], reason);
    }
  }

  deadLetter(reason: DeadReason): void {
    this.deadLetters = incremented(this.deadLetters, reason);
  }

  /** Attempts by outcome and reason. */
  *attemptsByOutcome(): Iterable<{ labels: { outcome: Outcome; reason: string }; value: number }> {
    if (this.delivered > 0) yield { labels: { outcome: 'delivered', reason: '' }, value: this.delivered };
    for (const outcome of ['retry', 'dead'] as const) {
      for (const [reason, value] of this.failed[outcome] ?? []) yield { labels: { outcome, reason }, value };
    }
  }

  *deadByReason(): Iterable<{ labels: { reason: string }; value: number }> {
    for (const [reason, value] of this.deadLetters ?? []) yield { labels: { reason }, value };
  }
}

function incremented(counts: ByReason, reason: string): Map<string, number> {
  const some = counts ?? new Map<string, number>();
  return some.set(reason, (some.get(reason) ?? 0) + 1);
}

/** The metrics of `/metrics/destinations`. */
export function destinationMetrics(destinations: Iterable<[string, DeliveryCounts]>): readonly PageMetric[] {
  const samples = (of: (counts: DeliveryCounts) => Iterable<PageSample>) =>
    function* (): Iterable<PageSample> {
      for (const [id, counts] of destinations) {
        for (const { labels, ...sample } of of(counts)) {
          yield { ...sample, labels: { destination_id: id, ...labels } };
        }
      }
    };
  const counter = (
    name: string,
    help: string,
    of: (counts: DeliveryCounts) => Iterable<PageSample>,
  ): PageMetric => ({ name, help, type: 'counter', samples: samples(of) });
  const summary = (
    name: string,
    help: string,
    of: (counts: DeliveryCounts) => { readonly ms: number; readonly count: number },
  ): PageMetric => ({ name, help, type: 'summary', samples: samples((counts) => sumAndCount(of(counts))) });
  return [
    counter('tailrace_destination_attempts_total', 'Attempts, by outcome and reason.', (counts) =>
      counts.attemptsByOutcome(),
    ),
    summary(
      'tailrace_destination_attempt_duration_seconds',
      'From the start of an attempt to the last answer of its URLs.',
      ({ attemptMs, attempts }) => ({ ms: attemptMs, count: attempts }),
    ),
    summary(
      'tailrace_destination_delivery_age_seconds',
      'From the acceptance of an event to its delivery.',
      ({ ageMs, delivered }) => ({ ms: ageMs, count: delivered }),
    ),
    counter(
      'tailrace_destination_dead_letters_total',
      'Dead letters acknowledged by Kafka, by reason.',
      (counts) => counts.deadByReason(),
    ),
    counter(
      'tailrace_destination_deferred_total',
      'Deliveries written to a tier without an attempt, because the lane was full.',
      ({ deferred }) => unlessNone(deferred),
    ),
    counter(
      'tailrace_destination_behind_total',
      'Deliveries written to a tier to wait behind an earlier one of their user.',
      ({ behind }) => unlessNone(behind),
    ),
    counter(
      'tailrace_destination_parked_total',
      'Deliveries written to a tier without an attempt, because a circuit breaker was open.',
      ({ parked }) => unlessNone(parked),
    ),
  ];
}

const noLabels = {};

function unlessNone(value: number): PageSample[] {
  return value === 0 ? [] : [{ labels: noLabels, value }];
}

function sumAndCount({ ms, count }: { readonly ms: number; readonly count: number }): PageSample[] {
  if (count === 0) return [];
  return [
    { labels: noLabels, suffix: '_sum', value: ms / 1_000 },
    { labels: noLabels, suffix: '_count', value: count },
  ];
}
