/** The settings of the control service; README.md says what each is for. */
import path from 'node:path';
import {
  bytes,
  cidrs,
  derived,
  duration,
  group,
  integer,
  kafkaSettings,
  port,
  secret,
  secretKeys,
  serviceSettings,
  text,
  topicSettings,
  type Setting,
  type ValuesOf,
} from '@tailrace/service';

const dayMs = 86_400_000;
/** Tokens, separated by commas. They are compared and never shown. */
function tokens(name: string): Setting<readonly string[]> {
  return derived(secret(name), (found = '') => {
    const list = found.split(',').flatMap((token) => (token.trim() === '' ? [] : [token.trim()]));
    // What a bearer token may be (RFC 6750, section 2.1).
    if (list.every((token) => /^[A-Za-z0-9._~+/-]+=*$/.test(token))) return { value: Object.freeze(list) };
    const allowed = 'letters, digits and -._~+/, separated by commas';
    return { problems: [`${name}: found a value (not shown), allowed are tokens of ${allowed}`] };
  });
}

/** Who may use the API, and who may only look. */
const access = derived(
  group({ admin: tokens('TAILRACE_API_TOKEN'), read: tokens('TAILRACE_API_READ_TOKEN') }),
  (values) => {
    const { admin, read } = values;
    if (admin.length === 0 && read.length === 0) {
      return {
        problems: [
          'TAILRACE_API_TOKEN: not set. It is the bearer token of the API; make one with `openssl rand -hex 24`.',
        ],
      };
    }
    const both = read.some((token) => admin.includes(token));
    if (!both) return { value: values };
    return { problems: ['TAILRACE_API_READ_TOKEN: a token in it is one of TAILRACE_API_TOKEN too'] };
  },
);

export const settings = {
  ...serviceSettings({ metricsPort: 9467 }),
  kafka: kafkaSettings('tailrace-control'),
  topics: topicSettings(),
  port: port('TAILRACE_CONTROL_PORT', 8081),
  access,
  secretKeys: secretKeys(),
  history: group({
    maxAgeMs: duration('TAILRACE_HISTORY_MAX_AGE', 7 * dayMs),
    maxBytes: bytes('TAILRACE_HISTORY_MAX_SIZE', 2 ** 30),
  }),
  dataDir: text('TAILRACE_DATA_DIR', path.join('.tailrace', 'control')),
  audienceRate: integer('TAILRACE_AUDIENCE_RATE', { min: 1, max: 1_000_000 }, 5_000),
  timeoutMs: duration('TAILRACE_DELIVERY_TIMEOUT', 5_000),
  allowedNetworks: cidrs('TAILRACE_ALLOW_PRIVATE_NETWORKS'),
};

export type ControlSettings = ValuesOf<typeof settings>;
