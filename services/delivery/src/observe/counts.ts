/** Counts of deliveries, in total and for each destination. Plain numbers, because every attempt is counted twice. */
import type { DeadReason, LabelsOf } from '@tailrace/metrics';
import type { MetricsPages, PageSample } from '@tailrace/service';
import type { AttemptRecord } from '@tailrace/records';
import type { Wait } from '../delivery.ts';

type Outcome = AttemptRecord['outcome'];
type AttemptLabels = LabelsOf<'tailrace_delivery_attempts_total'>;

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
  deadLetters: Map<DeadReason, number> | undefined;
  /** Deliveries written to a retry topic without an attempt. */
  waits = { deferred: 0, behind: 0, parked: 0, paused: 0 } satisfies Record<Wait['cause'], number>;

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
  *attemptsByOutcome(): Iterable<{ labels: AttemptLabels; value: number }> {
    if (this.delivered > 0) yield { labels: { outcome: 'delivered', reason: '' }, value: this.delivered };
    for (const outcome of ['retry', 'dead'] as const) {
      for (const [reason, value] of this.failed[outcome] ?? []) {
        yield { labels: { outcome, reason } as AttemptLabels, value };
      }
    }
  }

  *deadByReason(): Iterable<{ labels: { reason: DeadReason }; value: number }> {
    for (const [reason, value] of this.deadLetters ?? []) yield { labels: { reason }, value };
  }
}

/** The counts of all destinations together. */
export class DeliveryTotals extends DeliveryCounts {
  ended = { delivered: 0, dead: 0 };
  replayed = 0;
}

function incremented<Reason>(counts: Map<Reason, number> | undefined, reason: Reason): Map<Reason, number> {
  const some = counts ?? new Map<Reason, number>();
  return some.set(reason, (some.get(reason) ?? 0) + 1);
}

/** Registers the metrics of `/metrics/destinations`. */
export function addDestinationMetrics(
  page: MetricsPages['destinations'],
  destinations: Iterable<[string, DeliveryCounts]>,
): void {
  const samples = <Labels>(of: (counts: DeliveryCounts) => Iterable<PageSample<Labels>>) =>
    function* (): Iterable<PageSample<Labels & { destination_id: string }>> {
      for (const [destination_id, counts] of destinations) {
        for (const { labels, ...sample } of of(counts)) {
          yield { ...sample, labels: { destination_id, ...labels } };
        }
      }
    };
  page.add(
    'tailrace_destination_attempts_total',
    samples((counts) => counts.attemptsByOutcome()),
  );
  page.add(
    'tailrace_destination_attempt_duration_seconds',
    samples(({ attemptMs, attempts }) => sumAndCount(attemptMs, attempts)),
  );
  page.add(
    'tailrace_destination_delivery_age_seconds',
    samples(({ ageMs, delivered }) => sumAndCount(ageMs, delivered)),
  );
  page.add(
    'tailrace_destination_dead_letters_total',
    samples((counts) => counts.deadByReason()),
  );
  const waits = (cause: Wait['cause']) => samples(({ waits }) => unlessNone(waits[cause]));
  page.add('tailrace_destination_deferred_total', waits('deferred'));
  page.add('tailrace_destination_behind_total', waits('behind'));
  page.add('tailrace_destination_parked_total', waits('parked'));
  page.add('tailrace_destination_paused_total', waits('paused'));
}

const noLabels = {};

function unlessNone(value: number): PageSample<object>[] {
  return value === 0 ? [] : [{ labels: noLabels, value }];
}

/** The sum has milliseconds and no more digits: those would be a fifth of a compressed page. */
function sumAndCount(ms: number, count: number): PageSample<object>[] {
  if (count === 0) return [];
  return [
    { labels: noLabels, suffix: '_sum', value: Math.round(ms) / 1_000 },
    { labels: noLabels, suffix: '_count', value: count },
  ];
}
