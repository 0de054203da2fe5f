/** The settings of the control service. docs/settings.md is generated from them. */
import path from 'node:path';
import { TailraceError } from '@tailrace/errors';
import {
  bytes,
  duration,
  httpUrl,
  ingestPublicUrl,
  kafkaSettings,
  port,
  receiverSettings,
  registrySettings,
  secretKeys,
  serviceSettings,
  topicSettings,
  trustedProxies,
} from '@tailrace/service';
import Type from 'typebox';

const dayMs = 86_400_000;

const minTokenLength = 16;

/** Bearer tokens (RFC 6750, section 2.1), separated by commas; empty items are ignored. */
function tokens(options: { readonly env: string; readonly description: string }) {
  const list = Type.Array(Type.String({ pattern: `^((?=.{${minTokenLength}})[A-Za-z0-9._~+/-]+=*)?$` }), {
    ...options,
    form: `tokens of at least ${minTokenLength} letters, digits and -._~+/, separated by commas`,
    writeOnly: true,
    default: [],
  });
  return Type.Decode(list, (found) => found.filter((token) => token !== ''));
}

/** The tokens of each scope. */
const access = Type.Decode(
  Type.Object({
    admin: tokens({
      env: 'TAILRACE_API_TOKEN',
      description:
        'Tokens of the API that allow everything. Make one with `openssl rand -hex 24`. At least one token is required.',
    }),
    read: tokens({
      env: 'TAILRACE_API_READ_TOKEN',
      description: 'Tokens of the API that allow reading only.',
    }),
  }),
  (values) => {
    const { admin, read } = values;
    if (admin.length === 0 && read.length === 0) {
      throw new TailraceError(
        'invalid-settings',
        'TAILRACE_API_TOKEN: not set. It is the bearer token of the API; make one with `openssl rand -hex 24`.',
      );
    }
    if (read.some((token) => admin.includes(token))) {
      throw new TailraceError(
        'invalid-settings',
        'TAILRACE_API_READ_TOKEN: contains a token of TAILRACE_API_TOKEN. Use different tokens.',
      );
    }
    return values;
  },
);

export const settings = Type.Object({
  ...serviceSettings({ metricsPort: 9467 }),
  kafka: kafkaSettings('control'),
  topics: topicSettings(),
  port: port({ env: 'TAILRACE_CONTROL_PORT', default: 8081, description: 'Port of the HTTP API.' }),
  consoleUrl: Type.Optional(
    httpUrl({
      env: 'TAILRACE_CONTROL_PUBLIC_URL',
      description:
        'URL at which browsers reach the console, for links in notifications; by default they have none.',
    }),
  ),
  ingestUrl: ingestPublicUrl(),
  ingestPort: port({
    env: 'TAILRACE_INGEST_PORT',
    default: 8080,
    description: 'Port of ingest in snippets of the console, where TAILRACE_INGEST_PUBLIC_URL is not set.',
  }),
  access,
  registry: registrySettings(),
  requestsPerSecond: Type.Integer({
    env: 'TAILRACE_API_RATE_LIMIT',
    minimum: 1,
    maximum: 100_000,
    default: 100,
    description:
      'Requests a second of one token of the API to one instance; those of ten seconds may come together.',
  }),
  trustedProxies: trustedProxies(),
  secretKeys: secretKeys(),
  history: Type.Object({
    maxAgeMs: duration({
      env: 'TAILRACE_HISTORY_MAX_AGE',
      default: 7 * dayMs,
      description: 'Age up to which events can be looked up.',
    }),
    maxBytes: bytes({
      env: 'TAILRACE_HISTORY_MAX_SIZE',
      default: 3 * 2 ** 30,
      description: 'Size of the index for looking up events on disk.',
    }),
  }),
  dataDir: Type.String({
    env: 'TAILRACE_DATA_DIR',
    default: path.join('.tailrace', 'control'),
    description: 'Folder for data that can be deleted and is then rebuilt from Kafka.',
  }),
  audienceRate: Type.Integer({
    env: 'TAILRACE_AUDIENCE_RATE',
    minimum: 1,
    maximum: 1_000_000,
    default: 5_000,
    description: 'Events a second that an audience sync writes, if its request names no other rate.',
  }),
  failingAfterMs: duration({
    env: 'TAILRACE_FAILING_AFTER',
    default: 120_000,
    description:
      'For how long all attempts of a destination must fail until the operational event destination.failing is written.',
  }),
  ...receiverSettings(),
});
