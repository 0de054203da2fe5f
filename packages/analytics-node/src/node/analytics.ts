/** The client of Node: node:http, or a Kafka producer. */
import { Client, type Parts } from '../core/analytics.ts';
import type { AnyEvents, EventMap } from '../core/messages.ts';
import { invalidOption } from '../core/errors.ts';
import { batchUrl } from '../core/http-exchange.ts';
import {
  contextOf,
  positive,
  writeKeyOf,
  type CommonOptions,
  type HttpCommonOptions,
} from '../core/options.ts';
import { agentOf } from './agent.ts';
import type { ConnectionOptions } from './connection-options.ts';
import type { FileQueue } from '../file-queue/file-queue.ts';
import { httpTransport } from './http.ts';
import type { KafkaProducer } from './kafka-producer.ts';
import { kafkaTransport } from './kafka.ts';
import { nodePlatform } from './platform.ts';

interface NodeOptions {
  /** Keeps queued calls across restarts and crashes: `fileQueue({ directory })`. */
  readonly queue?: FileQueue | undefined;
}

export interface HttpOptions extends HttpCommonOptions, ConnectionOptions, NodeOptions {
  /** Compresses requests, in another thread. Default false. */
  readonly gzip?: boolean | undefined;
  readonly kafka?: undefined;
}

export interface KafkaOptions extends CommonOptions, NodeOptions {
  /** Writes calls directly to Kafka. */
  readonly kafka: {
    /** A connected producer, such as that of kafkajs. The client neither connects nor disconnects it. */
    readonly producer: KafkaProducer;
    /** Default `tailrace.events`. */
    readonly topic?: string | undefined;
  };
  readonly endpoint?: undefined;
}

export type AnalyticsOptions = HttpOptions | KafkaOptions;

export class Analytics<Events extends EventMap<Events> = AnyEvents> extends Client<Events> {
  /** @throws AnalyticsError `invalid-options`; its `field` is the option */
  constructor(options: AnalyticsOptions) {
    super(options, partsOf(options));
  }
}

function partsOf(options: AnalyticsOptions): Parts {
  const writeKey = writeKeyOf(options);
  const context = contextOf(options);
  const common = { platform: nodePlatform, openStore: options.queue?.open };
  if (options.kafka !== undefined) {
    const { producer, topic = 'tailrace.events' } = options.kafka;
    const sharedContext = JSON.parse(context) as object;
    return { ...common, transport: kafkaTransport({ writeKey, producer, topic }), sharedContext };
  }
  const { endpoint, gzip = false } = options;
  const url = batchUrl(endpoint);
  if (typeof gzip !== 'boolean') throw invalidOption('gzip', 'must be true or false');
  const timeoutMs = positive(options, 'timeoutMs', 10_000);
  const agent = agentOf(options, url);
  const transport = httpTransport({ writeKey, url, gzip, timeoutMs, context, agent });
  return { ...common, transport };
}
