/** Which topics are fetched. Nothing is while commits are late or refused. */
import type { Session } from '../session.ts';
import type { Partition } from './partition/partition.ts';

export interface ReceivingDependencies {
  /** All partitions that this member owns. */
  readonly partitions: Iterable<Partition>;
  readonly session: () => Pick<Session, 'pause' | 'resume'>;
  readonly areCommitsCurrent: () => boolean;
}

export class Receiving {
  readonly #deps: ReceivingDependencies;
  #isStopped = false;
  #isPaused = false;
  readonly #pausedTopics = new Set<string>();

  constructor(dependencies: ReceivingDependencies) {
    this.#deps = dependencies;
  }

  /** Whether records may be received. Records of topics that were paused during a fetch may still arrive. */
  get isOpen(): boolean {
    return !this.#isStopped && this.#deps.areCommitsCurrent();
  }

  mayFetch(topic: string): boolean {
    return this.isOpen && !this.#isPaused && !this.#pausedTopics.has(topic);
  }

  /** Pauses topics, or all. */
  pause(topics?: readonly string[]): void {
    if (!topics) this.#isPaused = true;
    for (const topic of topics ?? []) this.#pausedTopics.add(topic);
    this.#pausePartitions();
  }

  resume(topics?: readonly string[]): void {
    if (!topics) this.#isPaused = false;
    for (const topic of topics ?? []) this.#pausedTopics.delete(topic);
    this.#resumePartitions();
  }

  /** Commits have become current, or have ceased to be. */
  commitsChanged(): void {
    if (this.#deps.areCommitsCurrent()) this.#resumePartitions();
    else this.#pausePartitions();
  }

  stop(): void {
    if (this.#isStopped) return;
    this.#isStopped = true;
    this.#pausePartitions();
  }

  #pausePartitions(): void {
    const { partitions, session } = this.#deps;
    session().pause([...partitions].filter(({ topic }) => !this.mayFetch(topic)));
  }

  #resumePartitions(): void {
    const { partitions, session } = this.#deps;
    const fetchable = [...partitions].filter(
      ({ topic, located, paused }) => located && !paused && this.mayFetch(topic),
    );
    session().resume(fetchable);
  }
}
