/** One run through the pipeline: sends calls, receives webhooks, and compares them. */
import { setTimeout as sleep } from 'node:timers/promises';
import { mapValues, startCpuMeter, type ByProcess } from '../figures/measure.ts';
import type { Load, Sent } from '../load/load.ts';
import { faultsOf, type Arrivals, type Receiver } from '../receivers/receiver.ts';
import { distribution, type Distribution } from '../figures/statistics.ts';

export interface RunResult {
  /** Calls per second, from the first sending to the last arrival. */
  readonly deliveredPerSecond: number;
  /** CPU time of an event in each process. */
  readonly cpuMicroseconds: ByProcess;
  /** Mean share of one core that each process used. */
  readonly cpuShare: ByProcess;
  readonly latencyMs: Latencies;
  readonly account: Account;
}

export interface Latencies {
  /** From sending the call to the arrival of the whole webhook at the receiver. */
  readonly sentToReceived: Distribution;
  /** The same from when the call was due: includes delays of the load generator. */
  readonly dueToReceived: Distribution;
  /** From the 200 to the arrival; negative if the webhook was first. */
  readonly acceptedToReceived: Distribution;
  readonly sentToAccepted: Distribution;
}

/** The outcome of the calls of a run. */
export interface Account {
  readonly sent: number;
  readonly lost: number;
  readonly repeated: number;
  /** Requests at the receiver without a call. */
  readonly unexpected: number;
  /** The number of webhooks whose body and signature were checked, and a sentence for each problem. */
  readonly checked: number;
  readonly faults: readonly string[];
}

export interface RunDependencies {
  readonly load: Load;
  readonly receiver: Receiver;
  readonly sharedSecret: string;
  /** The processes whose CPU time is taken, by name. */
  readonly pids: ByProcess;
}

/** A delivery that failed once is retried after the first tier, 10 s; deliveries missing by then are lost. */
const arrivesWithinMs = 60_000;
/** Offsets are committed and attempt records written shortly after the last delivery. */
const settleMs = 1_000;

/** Runs `send`, which sends `count` calls, and waits until they have arrived. */
export async function measureRun(
  { load, receiver, sharedSecret, pids }: RunDependencies,
  count: number,
  send: (load: Load) => Promise<Sent>,
): Promise<RunResult> {
  await receiver.expect({ first: load.next, count });
  const began = performance.now();
  const meter = startCpuMeter(pids);
  const sent = await send(load);
  await receiver.complete(arrivesWithinMs);
  await sleep(settleMs);
  const cpuSeconds = meter.read();
  const seconds = (performance.now() - began) / 1_000;
  const arrivals = await receiver.handOver();
  return {
    deliveredPerSecond: deliveredPerSecond(sent, arrivals),
    cpuMicroseconds: mapValues(cpuSeconds, (cpu) => (cpu * 1e6) / count),
    cpuShare: mapValues(cpuSeconds, (cpu) => cpu / seconds),
    latencyMs: latenciesOf(sent, arrivals),
    account: accountOf(sent, arrivals, sharedSecret),
  };
}

function deliveredPerSecond({ sentAt }: Sent, { receivedAt }: Arrivals): number {
  const arrived = receivedAt.filter((at) => !Number.isNaN(at));
  const from = sentAt.reduce((a, b) => Math.min(a, b), Infinity);
  const to = arrived.reduce((a, b) => Math.max(a, b), -Infinity);
  return (arrived.length / (to - from)) * 1_000;
}

function latenciesOf({ dueAt, sentAt, acceptedAt }: Sent, { receivedAt }: Arrivals): Latencies {
  const between = (from: Float64Array, to: Float64Array): Distribution =>
    distribution(to.map((at, index) => at - (from[index] ?? NaN)));
  return {
    sentToReceived: between(sentAt, receivedAt),
    dueToReceived: between(dueAt, receivedAt),
    acceptedToReceived: between(acceptedAt, receivedAt),
    sentToAccepted: between(sentAt, acceptedAt),
  };
}

function accountOf({ count }: Sent, arrivals: Arrivals, sharedSecret: string): Account {
  const { receivedAt, repeated, unexpected, samples } = arrivals;
  return {
    sent: count,
    lost: receivedAt.filter((at) => Number.isNaN(at)).length,
    repeated,
    unexpected,
    checked: samples.length,
    faults: faultsOf(samples, sharedSecret),
  };
}

export function total(accounts: readonly Account[]): Account {
  const sum = (figure: (account: Account) => number): number =>
    accounts.reduce((before, account) => before + figure(account), 0);
  return {
    sent: sum(({ sent }) => sent),
    lost: sum(({ lost }) => lost),
    repeated: sum(({ repeated }) => repeated),
    unexpected: sum(({ unexpected }) => unexpected),
    checked: sum(({ checked }) => checked),
    faults: accounts.flatMap(({ faults }) => faults),
  };
}
