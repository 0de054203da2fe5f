/**
 * The conservation oracle: no accepted event may be lost or altered by any failure.
 *
 * Every accepted event is an obligation, once for each destination it must reach. After the drain each
 * obligation is met by a delivery (a request that its receiver answered with 2xx) or by a dead letter, whose
 * bytes equal the expected body. More than one of them is a duplicate: allowed by at-least-once delivery, and
 * counted, so that a run can say how many there were and why.
 */

export interface Obligation {
  readonly eventId: string;
  readonly destinationId: string;
  /** The exact bytes that are expected. */
  readonly body: Buffer;
}

/** The outcome of an event at a destination. */
export interface Arrival extends Obligation {
  readonly how: 'delivered' | 'dead';
}

export interface Verdict {
  readonly obligations: number;
  /** Obligations met by at least one delivery. */
  readonly delivered: number;
  /** Obligations met by a dead letter only. */
  readonly dead: number;
  /** Obligations without an arrival. */
  readonly missing: readonly Obligation[];
  /** Arrivals whose bytes are not the expected ones. */
  readonly altered: readonly { readonly expected: Obligation; readonly arrival: Arrival }[];
  /** Arrivals without an obligation. */
  readonly unexpected: readonly Arrival[];
  /** Arrivals after the first of the same obligation. */
  readonly duplicates: readonly Arrival[];
}

export function judge(obligations: Iterable<Obligation>, arrivals: Iterable<Arrival>): Verdict {
  const expected = new Map<string, { obligation: Obligation; met: Arrival[] }>();
  for (const obligation of obligations) {
    const key = keyOf(obligation);
    if (expected.has(key)) throw new Error(`the obligation ${key} is there twice`);
    expected.set(key, { obligation, met: [] });
  }
  const unexpected: Arrival[] = [];
  const altered: Verdict['altered'][number][] = [];
  for (const arrival of arrivals) {
    const entry = expected.get(keyOf(arrival));
    if (!entry) unexpected.push(arrival);
    else if (!arrival.body.equals(entry.obligation.body))
      altered.push({ expected: entry.obligation, arrival });
    else entry.met.push(arrival);
  }
  const entries = [...expected.values()];
  const delivered = entries.filter(({ met }) => met.some(({ how }) => how === 'delivered'));
  return {
    obligations: entries.length,
    delivered: delivered.length,
    dead: entries.filter(({ met }) => met.length > 0 && met.every(({ how }) => how === 'dead')).length,
    missing: entries.filter(({ met }) => met.length === 0).map(({ obligation }) => obligation),
    altered,
    unexpected,
    duplicates: entries.flatMap(({ met }) => met.slice(1)),
  };
}

/** Whether no event was lost, altered or invented. Duplicates are allowed. */
export function isConserved(verdict: Verdict): boolean {
  return verdict.missing.length + verdict.altered.length + verdict.unexpected.length === 0;
}

/** The verdict in a few lines, with the first examples of each problem. */
export function report(verdict: Verdict): string {
  const { obligations, delivered, dead, missing, altered, unexpected, duplicates } = verdict;
  return [
    `${obligations} obligations: ${delivered} delivered, ${dead} in dead letters, ${missing.length} missing, ` +
      `${altered.length} altered, ${unexpected.length} unexpected, ${duplicates.length} duplicates`,
    ...examples('missing', missing, show),
    ...examples(
      'altered',
      altered,
      ({ expected, arrival }) => `${show(arrival)}, expected ${text(expected)}`,
    ),
    ...examples('unexpected', unexpected, show),
    ...examples(
      'repeated',
      duplicates,
      (arrival) => `${arrival.eventId} at ${arrival.destinationId}, ${arrival.how}`,
    ),
  ].join('\n');
}

function examples<T>(name: string, items: readonly T[], render: (item: T) => string): string[] {
  return items.slice(0, 5).map((item) => `  ${name}: ${render(item)}`);
}

function show(obligation: Obligation): string {
  return `${obligation.eventId} at ${obligation.destinationId}: ${text(obligation)}`;
}

function text({ body }: Obligation): string {
  return body.toString().slice(0, 300);
}

function keyOf({ eventId, destinationId }: Obligation): string {
  return `${eventId} at ${destinationId}`;
}
