/** The type of a file of routes, and the dependencies of its handlers, which `main.ts` opens. */
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
import type { Audiences } from '../audiences/index.ts';
import type { Deletions } from '../deletions/index.ts';
import type { History } from '../history/index.ts';
import type { Streams } from '../history/streams.ts';
import type { Idempotency } from '../idempotency/index.ts';
import type { Recalls } from '../replays/recalls.ts';
import type { Replays } from '../replays/replays.ts';
import type { EndedSessions } from '../session/ended.ts';
import type { RecordReader } from './body.ts';
import type { SessionSeal } from '../session/seal.ts';
import type { ControlSettings } from '../settings.ts';
import type { UserSuppressions } from '../suppressions/index.ts';

export interface ControlDeps {
  readonly settings: ControlSettings;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly kafka: Kafka;
  readonly names: TopicNames;
  /** Sources and destinations, live, and the only way to change them. */
  readonly config: ConfigEditor;
  /** Of any topic. */
  readonly records: RecordReader;
  readonly history: History;
  readonly streams: Streams;
  readonly audiences: Audiences;
  readonly deletions: Deletions;
  readonly suppressions: UserSuppressions;
  readonly recalls: Recalls;
  readonly idempotency: Idempotency;
  readonly replays: Replays;
  readonly sessions: SessionSeal;
  readonly endedSessions: EndedSessions;
  /** Aborted when the process shuts down: ends streams and background work. */
  readonly signal: AbortSignal;
}

/** Adds the routes of one area. Paths are below `/v1`. */
export type Routes = (app: Api, deps: ControlDeps) => void;

export type Api = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  SchemaTypes
>;

/** Derives the types of a request from the schemas of its route. */
export interface SchemaTypes extends FastifyTypeProvider {
  validator: this['schema'] extends TSchema ? Static<this['schema']> : unknown;
  serializer: unknown;
}
