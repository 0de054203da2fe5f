/** What the routes work with. A room behind routes is opened in main.ts and handed over here. */
import type { ConfigEditor } from '@tailrace/config';
import type { Kafka } from '@tailrace/kafka';
import type { Log, Metrics } from '@tailrace/service';
import type { TopicNames } from '@tailrace/topics';
import type { Audit } from './audit.ts';
import type { Audiences } from './audiences/index.ts';
import type { ControlSettings } from './settings.ts';
import type { Deletions } from './deletions/index.ts';
import type { History } from './history/index.ts';
import type { Recalls } from './recalls.ts';

export interface ControlDeps {
  readonly settings: ControlSettings;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly kafka: Kafka;
  readonly names: TopicNames;
  /** Sources and destinations, live, and the way to change them. */
  readonly config: ConfigEditor;
  /** What happened to events, as far as this instance has read it. */
  readonly history: History;
  readonly audiences: Audiences;
  readonly deletions: Deletions;
  readonly recalls: Recalls;
  /** Aborted when the process is told to stop: ends what streams, and what works in the background. */
  readonly signal: AbortSignal;
  /** Names what a request changes, for the audit log. */
  readonly audit: Audit;
}
