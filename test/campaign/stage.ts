/**
 * What a campaign runs on: three brokers and the replicas of each service as processes, in a network with a proxy for each pair, and
 * receivers of several kinds, which keep a ledger.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { applyConfiguration, type Destination as Configured } from '@tailrace/config';
import { decodeDecision } from '@tailrace/records';
import { probesUrlOf } from '@tailrace/service/testing';
import { eventually } from '@tailrace/testing';
import { topicNames, type TopicNames } from '@tailrace/topology';
import { ownCluster, type Cluster } from '../support/kafka/cluster.ts';
import { connectAdmin } from '../support/kafka/kafka-admin.ts';
import { openKafka, type TestKafka } from '../support/kafka/kafka-client.ts';
import { openSlowDisk, type SlowDisk } from '../support/kafka/slow-disk.ts';
import { uniquePrefix } from '../support/kafka/topics.ts';
import { Network } from '../support/network/network.ts';
import { openLedger, type Ledger } from '../support/oracle/ledger.ts';
import { tailrace } from '../support/processes/cli.ts';
import { openClock, type ProcessClock } from '../support/processes/clock.ts';
import { adminToken, askAt, secretKey, type Asked as Request } from '../support/processes/control.ts';
import type { Environment, ServiceProcess } from '../support/processes/process.ts';
import * as answers from '../support/receivers/answers.ts';
import { backOff } from '../support/steadily.ts';
import { formerRelease, thisRelease, type Release } from '../support/upgrade/former-release.ts';
import { PodSet, type Pod } from '../support/upgrade/pods.ts';
import { setsClock } from './clocks.ts';
import type { Asked, Change, Decided, Deletion, Destination } from './facts.ts';
import { Meter } from './meter.ts';
import { receivers } from './receivers.ts';
import { brokersOf, replicasOf, services, type Cast, type Plan, type Service } from './schedule.ts';

export const writeKeyOf = (source: string): string => `wk_${source}_of_the_campaign`;
const sources = ['web', 'bulk'];
/** Attempts for a minute, so that most receivers that were down get all events. */
const retrySchedule = '1s,2s,2s,5s,5s,5s,10s,10s,10s,10s';
export const retryDelaysMs = [1_000, 2_000, 5_000, 10_000];
const partitions = 4;
const partitionsAdded = 6;

export function castOf(replicas: number, users: number): Cast {
  return {
    replicas: { ingest: replicas, router: replicas, delivery: replicas, control: replicas },
    brokers: 3,
    changing: ['changing'],
    unreliable: ['ordered', 'failing'],
    users: Array.from({ length: users }, (_, number) => `user-${number}`),
  };
}

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

export interface Stage extends AsyncDisposable {
  readonly cast: Cast;
  readonly network: Network;
  readonly cluster: Cluster;
  /** Past the network. */
  readonly kafka: TestKafka;
  readonly names: TopicNames;
  readonly ledger: Ledger;
  readonly pods: Readonly<Record<Service, PodSet>>;
  /** By name: `delivery-1`. */
  readonly replicas: ReadonlyMap<string, Pod>;
  /** The replica that a process is or was. */
  readonly replicaOf: ReadonlyMap<ServiceProcess, string>;
  /** Of the replicas whose clock a fault sets, where libfaketime can be had. */
  readonly clocks: ReadonlyMap<string, ProcessClock>;
  /** Of the brokers whose disk a fault slows down, where there is a C compiler. */
  readonly disks: ReadonlyMap<string, SlowDisk>;
  readonly meter: Meter;
  readonly destinations: readonly Destination[];
  readonly changes: Change[];
  readonly deletions: Deletion[];
  /** Ids of destinations whose receivers reset every connection. */
  readonly down: Set<string>;
  /** From now on receivers that recover answer all requests with 200. */
  recover(): void;
  /** All decisions so far. */
  decided(): Promise<readonly Decided[]>;
  kill(replica: string): Promise<void>;
  /** Ends it with SIGTERM. */
  stop(replica: string): Promise<void>;
  /** Ends all with SIGTERM, when nothing is left to be done. Resolves with what went wrong. */
  stopAll(): Promise<readonly string[]>;
  /** The release before, where a fault needs it and it can be had. */
  readonly former: Release | undefined;
  /** Ends it with SIGTERM, and starts this release in its place. */
  replace(replica: string, release: Release): Promise<void>;
  /** Starts one more replica, and resolves with the function that stops it. */
  join(service: Service): Promise<() => Promise<void>>;
  /** Sends a request to a replica of control until it is accepted. */
  readonly ask: (request: Request) => Promise<Asked>;
  /** Sets another shared secret of the destination. */
  changeSecret(destinationId: string): Promise<void>;
  addPartitions(group: string): Promise<void>;
  /** Removes what a replica, which is down, keeps on disk. */
  loseData(replica: string): Promise<void>;
  /** Resolves when these replicas are ready, and all copies in sync. */
  settled(replicas: readonly string[]): Promise<void>;
}

export async function openStage({
  cast,
  faults,
  before,
}: Pick<Plan, 'cast' | 'faults' | 'before'>): Promise<Stage> {
  await using opened = new AsyncDisposableStack();
  const brokerNames = brokersOf(cast);
  const others = services.map((service) => `another-${service}`);
  const network = opened.use(new Network([...brokerNames, ...replicasOf(cast), ...others]));
  const properties = { 'default.replication.factor': 3, 'min.insync.replicas': 2 };
  const disks = new Map<string, SlowDisk>();
  for (const { kind, target } of faults) {
    if (kind !== 'disk slow' || disks.has(target)) continue;
    const disk = await openSlowDisk();
    if (disk) disks.set(target, opened.use(disk));
  }
  const envOf = (id: number) => disks.get(`broker-${id}`)?.env;
  const cluster = opened.use(await ownCluster({ size: cast.brokers, network, properties, envOf }));
  const kafka = opened.use(openKafka(cluster.brokers));
  const prefix = uniquePrefix();
  const names = topicNames(prefix);
  const direct = {
    KAFKA_BROKERS: cluster.brokers.join(','),
    TAILRACE_TOPIC_PREFIX: prefix,
    TAILRACE_PARTITIONS: String(partitions),
    TAILRACE_RETRY_SCHEDULE: retrySchedule,
    TAILRACE_SECRET_KEY: secretKey,
  };
  const apply = async (...args: string[]): Promise<void> => {
    const { exitCode, stdout, stderr } = await tailrace(['topics', 'apply', ...args], direct);
    if (exitCode !== 0) throw new Error(stdout + stderr);
  };
  await apply();

  const ledger = opened.use(await openLedger(kafka, names.deliveriesDead));
  const down = new Set<string>();
  let haveRecovered = false;
  const destinations: Mutable<Destination & { url: string }>[] = [];
  for (const [id, nature] of Object.entries(receivers)) {
    const {
      answer = () => answers.status(200),
      recovers,
      ordered = false,
      steady = false,
      source = 'web',
    } = nature;
    const receiver = await ledger.receive(() => id, {
      answer() {
        if (down.has(id)) return answers.reset;
        return recovers && haveRecovered ? answers.status(200) : answer();
      },
    });
    const first = { secret: `secret-of-${id}-1`, set: { askedAt: 0, answeredAt: 0 } };
    destinations.push({ id, source, ordered, steady, secrets: [first], url: receiver.url });
  }
  await applyConfiguration(kafka, names.config, {
    sources: sources.map((id) => ({ id, writeKeys: [writeKeyOf(id)], enabled: true })),
    destinations: destinations.map(({ id, source, ordered, secrets, url }): Configured => {
      const settings = { sharedSecret: secrets[0]?.secret ?? '', webhooks: [{ url }] };
      const order = ordered && { ordering: 'user' as const };
      return { id, type: 'Webhooks', enabled: true, sources: [source], settings, ...order };
    }),
  });
  const decisions: Decided[] = [];
  const followed = await kafka.follow({
    topic: names.decisions,
    onRecord(record) {
      const { eventId = '', decidedAt: at = 0, filtered = [] } = decodeDecision(record) ?? {};
      for (const { reason, destinations } of filtered) {
        for (const destinationId of destinations) {
          decisions.push({ eventId, destinationId, reason, at });
          ledger.excuse({ eventId, destinationId });
        }
      }
    },
  });
  opened.defer(() => followed.close());

  const folder = await mkdtemp(path.join(tmpdir(), 'tailrace-campaign-'));
  opened.defer(() => rm(folder, { recursive: true, force: true }));
  const clocks = new Map<string, ProcessClock>();
  for (const fault of faults) {
    const { target } = fault;
    if (!setsClock(fault) || clocks.has(target)) continue;
    const clock = await openClock();
    if (clock) clocks.set(target, opened.use(clock));
  }
  const preload = pathToFileURL(path.join(import.meta.dirname, '../support/network/hosts.ts')).href;
  const environments = new Map<string, Environment>();
  const environmentOf = async (party: string): Promise<Environment> => {
    const env = environments.get(party) ?? (await openEnvironment(party));
    environments.set(party, env);
    return env;
  };
  const openEnvironment = async (party: string): Promise<Environment> => {
    const hosts: Record<string, string> = {};
    for (const [place, { namedPort }] of cluster.nodes.entries()) {
      const broker = brokerNames[place] ?? '';
      await network.open(party, broker, namedPort);
      hosts[broker] = network.address(party, broker);
    }
    return {
      ...direct,
      KAFKA_BROKERS: cluster.nodes
        .map(({ namedPort }, place) => `${brokerNames[place] ?? ''}:${namedPort}`)
        .join(','),
      NODE_OPTIONS: `--import=${preload}`,
      TEST_HOSTS: JSON.stringify(hosts),
      TAILRACE_RETRY_WINDOW: '1h',
      TAILRACE_ALLOW_PRIVATE_NETWORKS: '127.0.0.0/8',
      TAILRACE_API_TOKEN: adminToken,
      TAILRACE_API_RATE_LIMIT: '100000',
      // The log of delivery then shows its partitions and each attempt.
      LOG_LEVEL: 'debug',
      TAILRACE_LOG_ATTEMPTS: 'all',
      ...clocks.get(party)?.env,
    };
  };
  const pods = {
    ingest: opened.use(new PodSet('ingest', folder)),
    router: opened.use(new PodSet('router', folder)),
    delivery: opened.use(new PodSet('delivery', folder)),
    control: opened.use(new PodSet('control', folder)),
  };
  const replicas = new Map<string, Pod>();
  const replicaOf = new Map<ServiceProcess, string>();
  const meter = new Meter();
  const podOf = (replica: string): Pod => {
    const pod = replicas.get(replica);
    if (!pod) throw new RangeError(`there is no replica ${replica}`);
    return pod;
  };
  const from = before === undefined ? {} : { TAILRACE_UPGRADE_FROM: before };
  const former = faults.some(({ kind }) => kind === 'rolled back')
    ? await formerRelease({ ...process.env, ...from }).catch(() => undefined)
    : undefined;
  const start = async (replica: string, release: Release): Promise<void> => {
    const [service = '', place] = replica.split('-');
    const pod = await pods[service as Service].start(release, await environmentOf(replica), Number(place));
    if (release !== thisRelease) meter.ignore(pod.process);
    replicas.set(replica, pod);
    replicaOf.set(pod.process, replica);
  };
  for (const replica of replicasOf(cast)) await start(replica, thisRelease);
  const ask = async (request: Request): Promise<Asked> => {
    const askedAt = Date.now();
    for (;;) {
      const pod = pods.control.next();
      // The release before does not know all fields, and does not keep the events of a deleted user back.
      const url = pod?.release === thisRelease ? pod.url : '';
      const status = await askAt(url, request).then(
        (answer) => answer.status,
        () => 0,
      );
      if (status >= 200 && status < 300) return { askedAt, answeredAt: Date.now() };
      if (status >= 400 && status < 500) throw new Error(`${request.path} was answered with ${status}`);
      await backOff();
    }
  };

  const all = opened.move();
  return {
    cast,
    network,
    cluster,
    kafka,
    names,
    ledger,
    pods,
    replicas,
    replicaOf,
    clocks,
    disks,
    meter,
    former,
    destinations,
    changes: [],
    deletions: [],
    down,
    recover() {
      haveRecovered = true;
    },
    async decided() {
      await followed.refresh();
      return decisions;
    },
    kill(replica) {
      const { process } = podOf(replica);
      return meter.beforeEnd(process, () => process.kill());
    },
    stop(replica) {
      const { process } = podOf(replica);
      return meter.beforeEnd(process, () => process.stop());
    },
    async stopAll() {
      const failures: string[] = [];
      for (const set of Object.values(pods)) {
        const stopping = set.pods.map((pod) => meter.beforeEnd(pod.process, () => set.stop(pod), true));
        for (const stopped of await Promise.allSettled(stopping)) {
          if (stopped.status === 'rejected') failures.push((stopped.reason as Error).message);
        }
      }
      return failures;
    },
    async replace(replica, release) {
      const pod = podOf(replica);
      const set = pods[pod.process.name as Service];
      const stopped = meter.beforeEnd(pod.process, () => set.stop(pod));
      await stopped.catch(() => undefined);
      await untilStarted(() => start(replica, release));
      // The release before may never end (packages/kafka/src/patches/reading/stopped-fetch.ts). It is killed then, as in a cluster.
      if (pod.release === thisRelease) await stopped;
    },
    async join(service) {
      const env = await environmentOf(`another-${service}`);
      const pod = await pods[service].start(thisRelease, env, cast.replicas[service] + 1);
      return () => meter.beforeEnd(pod.process, () => pods[service].stop(pod));
    },
    ask,
    async changeSecret(destinationId) {
      const destination = destinations.find(({ id }) => id === destinationId);
      const secret = `secret-of-${destinationId}-${(destination?.secrets.length ?? 0) + 1}`;
      const settings = { sharedSecret: secret };
      const change = { method: 'PATCH', path: `/v1/destinations/${destinationId}`, body: { settings } };
      const set = { askedAt: Date.now(), answeredAt: Infinity };
      // Requests may have the new signature before the answer.
      if (destination) destination.secrets = [...destination.secrets, { secret, set }];
      set.answeredAt = (await ask(change)).answeredAt;
    },
    loseData: (replica) => rm(path.join(folder, replica), { recursive: true, force: true }),
    addPartitions: (group) => apply('--partitions', String(partitionsAdded), '--only', group),
    async settled(parties) {
      for (const party of parties) {
        const pod = replicas.get(party);
        if (pod) await eventually(() => isReady(pod));
      }
      await eventually(async () => {
        await using admin = await connectAdmin(cluster.brokers);
        const topics = [names.events, names.deliveries, names.attempts, '__consumer_offsets'];
        const inSync = await Promise.all(topics.map((topic) => admin.inSync(topic))).catch(() => []);
        return inSync.length > 0 && inSync.flat().every(({ length }) => length === cast.brokers);
      });
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

/** As a controller of Kubernetes, again where a start fails because Kafka is away. */
export async function untilStarted(start: () => Promise<void>): Promise<void> {
  const starts = (): Promise<boolean> =>
    start().then(
      () => true,
      () => false,
    );
  while (!(await starts())) await backOff();
}

async function isReady({ process }: Pod): Promise<boolean> {
  return fetch(`${probesUrlOf(process)}/readyz`).then(
    async (response) => {
      await response.arrayBuffer();
      return response.ok;
    },
    () => false,
  );
}
