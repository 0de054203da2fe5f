/** The replicas of one workload, each a process of some release. */
import path from 'node:path';
import { startProcess, type Environment, type ServiceProcess } from '../processes/process.ts';
import type { Release } from './former-release.ts';
import { closedPort } from '../receivers/closed-port.ts';

export type Component = 'ingest' | 'router' | 'delivery' | 'control';

export interface Pod {
  readonly process: ServiceProcess;
  readonly release: Release;
  /** Origin of its API, where it has one. */
  readonly url: string;
}

/** The flags of `services/start.ts`, which releases before it do not have. */
const flags = [
  '--disable-warning=TimeoutNegativeWarning',
  '--max-semi-space-size=16',
  '--max-old-space-size=512',
];

export class PodSet<Name extends Component = Component> implements AsyncDisposable {
  readonly component: Name;
  /** Those that were ever started. */
  readonly all: Pod[] = [];
  readonly #dataDir: string;
  /** Those that get requests: ready, and not asked to stop. */
  readonly #serving = new Set<Pod>();
  #turn = 0;

  constructor(component: Name, dataDir: string) {
    this.component = component;
    this.#dataDir = dataDir;
  }

  get pods(): readonly Pod[] {
    return [...this.#serving];
  }

  /** A pod that gets the next request, as a Service chooses it; undefined where there is none. */
  next(): Pod | undefined {
    this.#turn += 1;
    return this.pods[this.#turn % this.#serving.size];
  }

  /** Resolves when it is ready. A pod of control keeps the data of the one before in its place. */
  async start(release: Release, env: Environment, place: number): Promise<Pod> {
    const [port, metricsPort] = [await closedPort(), await closedPort()];
    const process_ = await startProcess({
      name: this.component,
      command: [
        process.execPath,
        ...flags,
        path.join(release.root, 'services', this.component, 'src/main.ts'),
      ],
      env: {
        ...env,
        TAILRACE_INGEST_PORT: String(port),
        TAILRACE_CONTROL_PORT: String(port),
        TAILRACE_METRICS_PORT: String(metricsPort),
        TAILRACE_DATA_DIR: path.join(this.#dataDir, `control-${place}`),
      },
    });
    const pod = { process: process_, release, url: `http://127.0.0.1:${port}` };
    this.all.push(pod);
    this.#serving.add(pod);
    return pod;
  }

  /** Takes the pod out of the Service, and ends it with SIGTERM. Rejects unless it exits with code 0. */
  async stop(pod: Pod): Promise<void> {
    this.#serving.delete(pod);
    await pod.process.stop();
  }

  async stopAll(): Promise<void> {
    await Promise.all(this.pods.map((pod) => this.stop(pod)));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stopAll();
  }
}
