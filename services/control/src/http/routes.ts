/** What a file of routes exports, and what its handlers work with. `main.ts` opens the dependencies. */
import type { ConfigEditor } from '@tailrace/config';
import type { Kafka } from '@tailrace/kafka';
import type { Log, Metrics } from '@tailrace/service';
import type { TopicNames } from '@tailrace/topics';
import type {
  FastifyBaseLogger,
  FastifyInstance,
  FastifyTypeProvider,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
} from 'fastify';
import type { Static, TSchema } from 'typebox';
import type { Audit } from './audit.ts';
import type { Audiences } from '../audiences/index.ts';
import type { ControlSettings } from '../settings.ts';
import type { Deletions } from '../deletions/index.ts';
import type { History } from '../history/index.ts';
import type { Recalls } from '../replays/recalls.ts';

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

/** The types of a request follow from the schemas of its route. */
export interface SchemaTypes extends FastifyTypeProvider {
  validator: this['schema'] extends TSchema ? Static<this['schema']> : unknown;
  serializer: unknown;
}

export type Api = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  SchemaTypes
>;

/** Adds the routes of one area; paths are below `/v1`. */
export type Routes = (app: Api, deps: ControlDeps) => void;
