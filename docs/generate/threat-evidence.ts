/** What the threat model says of each role, secret and shared thing, and the test that shows it. */
import type { SharedName } from '../../services/control/src/access/shared.ts';

/** A test: its file, and its title. threat-model.test.ts checks that it exists. */
export interface Evidence {
  readonly file: string;
  readonly title: string;
}

const shown = (file: string, title: string): Evidence => ({ file, title });
const control = 'services/control/src';
const limited = shown(`${control}/access/tokens.test.ts`, 'a limited token reaches only what it names');
const byScope = shown(
  `${control}/access/table.test.ts`,
  'a read token gets 403 from every route that needs more, and no token gets 401 from all',
);
const masks = shown(
  `${control}/configuration/masks.test.ts`,
  'a read-only token sees neither write keys nor queries of URLs nor values of headers',
);
export const inFiles = shown(
  'packages/service/src/settings/secret-file.test.ts',
  'an invalid secret in a file is not shown',
);
const sealed = shown(
  'services/control/src/configuration/secrets.test.ts',
  '17.5 secrets are sealed in Kafka, and a view without keys can still read the entry',
);
const bodies = shown(
  `${control}/access/mask.test.ts`,
  'nothing but the form of a body is left, at any depth',
);
const hostile = shown(
  `${control}/http/hostile-input.slow.test.ts`,
  'each parameter of each operation refuses what it cannot be',
);

export const roles: readonly (readonly [role: string, may: string, mayNot: string, evidence: Evidence])[] = [
  [
    'anyone, over HTTP',
    'read the OpenAPI documents, the reference page and the public keys of destinations',
    'anything else',
    shown(
      `${control}/http/server.test.ts`,
      'a request without a token, or with an unknown token, is refused',
    ),
  ],
  [
    'holder of a write key',
    'send calls of one source',
    'read, send for another source, fill the memory of ingest',
    shown('test/integration/ingest-memory.test.ts', ''),
  ],
  [
    'holder of a write key',
    'send calls with any `messageId`',
    'suppress a call of another holder whose content it does not know',
    shown(
      'test/pipeline/repeats.test.ts',
      "3.7 a call that only has the messageId of a server's call does not suppress it, whichever field differs",
    ),
  ],
  [
    'holder of a write key',
    'leave a bounded sample of its refused calls for the owner of the source',
    'fill `events.rejected`',
    shown(
      'services/ingest/src/calls/refused.test.ts',
      '14.11 of a source so many refused calls and bytes a minute are kept, and others have theirs',
    ),
  ],
  [
    'session of the console',
    'what its token may, with a cookie that no script can read',
    'outlive its token, twelve hours or the sign-out, serve the pages of other servers',
    shown(
      `${control}/session/session.slow.test.ts`,
      'a session ends with its token, after twelve hours, and at the sign-out',
    ),
  ],
  [
    'page of another server, in the browser of a signed-in person',
    'nothing',
    'change anything with the cookie, show the console in a frame',
    shown(
      `${control}/session/session.slow.test.ts`,
      'a change with a cookie needs the header of the console, and its own origin',
    ),
  ],
  [
    'token with scope `read`',
    'read, with masks for write keys, header values, queries of URLs and the values of bodies',
    'change anything, read the audit log or tokens, see the ids of users in lists and streams',
    shown(
      `${control}/history/masks.test.ts`,
      'a read-only token sees no user id in bodies and lists, and filters by one that it knows',
    ),
  ],
  [
    'token with scope `write`',
    'also change sources, destinations, audiences and deliveries, and read bodies',
    'manage tokens, read the audit log',
    shown(`${control}/access/tokens.test.ts`, 'each scope allows what it names, and no more'),
  ],
  [
    'limited token',
    'the same for the sources and destinations that it names',
    'reach other entries, connect or disconnect another source, decide what becomes of its events, raise its own `rateLimit`, `burst`, `maxInFlight` or `disableAfter`, set `proxy`, learn of other entries from errors',
    shown(`${control}/access/limited-changes.test.ts`, ''),
  ],
  [
    'token with scope `admin`',
    'everything in the API',
    'read stored secrets back, change anything without an entry in the audit log',
    shown(
      `${control}/audit/audit.test.ts`,
      'the entry is written in the transaction of the change, or neither is',
    ),
  ],
  [
    'revoked or expired token',
    'nothing',
    'use the API for longer than two seconds, keep a stream',
    shown(
      `${control}/access/tokens.test.ts`,
      'a token ends to the second, and a revoked one within two seconds in every instance',
    ),
  ],
  [
    'client with a wrong token',
    'leave a bounded number of entries in the audit log',
    'fill the log or the topic',
    shown(
      `${control}/audit/audit.test.ts`,
      'a flood of wrong tokens leaves a bounded number of entries and log lines',
    ),
  ],
  [
    'proxy that is not trusted',
    'pass requests on',
    'choose the address in the audit log',
    shown(`${control}/audit/audit.test.ts`, 'X-Forwarded-For is believed from a trusted proxy only'),
  ],
  [
    'proxy that is not trusted',
    'pass requests on',
    'choose the `context.ip` that ingest adds, or put other text there',
    shown(
      'services/ingest/src/add-ip.test.ts',
      '14.10 the address comes from X-Forwarded-For behind a trusted proxy only, and nothing else of it is stored',
    ),
  ],
  [
    'proxy that is not trusted',
    'pass requests on',
    'choose the host whose pages may use the cookie of a session',
    shown(
      `${control}/session/session.slow.test.ts`,
      'X-Forwarded-Host and X-Forwarded-Proto are believed from a trusted proxy only',
    ),
  ],
  [
    'producer on Kafka',
    'as far as its ACLs permit',
    'stop a partition by a record that cannot be read',
    shown('services/router/src/odd-records.test.ts', ''),
  ],
  [
    'receiver',
    'read the events of its destination',
    'show header values through a test event, slow other destinations',
    shown(
      `${control}/configuration/masks.test.ts`,
      'a receiver that sends back what it received shows no header value in a test event',
    ),
  ],
  [
    'receiver',
    'leave 1 KB of text of a failed attempt, seen by `write` and `admin`',
    'leave header values of the request, characters that act on a terminal or a page, or more than `TAILRACE_KEEP_ANSWERS` in a minute',
    shown(
      'services/delivery/src/observe/exchanges.test.ts',
      'leaves what was sent and answered beside its record and in the dead letter, without secrets',
    ),
  ],
];

/** Secrets that are no settings. */
export const storedSecrets: readonly (readonly [
  secret: string,
  kept: string,
  seen: string,
  evidence: Evidence,
])[] = [
  [
    '`sharedSecret`, `previousSharedSecret`',
    'sealed in `config`',
    'never; shown once by `rotate secret`',
    sealed,
  ],
  [
    '`auth.password`, `auth.token`, `oauth2.clientSecret`',
    'sealed in `config`',
    'never',
    shown(
      'packages/config/src/secrets/secrets.test.ts',
      'password, token and client secret are sealed, and services without a key read the entry',
    ),
  ],
  [
    '`ed25519.key`, `ed25519.previousKey`',
    'sealed in `config`, never plain; public keys at `/.well-known/tailrace/jwks.json`',
    'never',
    shown(
      `${control}/configuration/destinations/rotation-routes.test.ts`,
      '8.7 the server makes a key that no answer, log or record shows, and publishes its public key',
    ),
  ],
  ['`tls.clientKey`', 'sealed in `config`', 'never', sealed],
  [
    'values of headers that are secret by their name (`Authorization`, `X-Api-Key`) or in `secretHeaders`',
    'sealed in `config`; written before, from the next change or reseal on',
    'never',
    shown(
      `${control}/configuration/secrets.test.ts`,
      'a header that is secret by its name is sealed, and one that was stored in plain text is at the next reseal',
    ),
  ],
  [
    'values of other headers',
    'plain in `config`',
    'never',
    shown(
      `${control}/configuration/masks.test.ts`,
      '17.5 the value of every header is masked, and the mask keeps it',
    ),
  ],
  [
    'queries of URLs and of `oauth2.tokenUrl`',
    'sealed; after an upgrade plain in `config` until `reseal?queries=true`',
    '`write` and `admin`',
    shown(
      `${control}/configuration/secrets.test.ts`,
      'the queries of URLs are sealed from the reseal on that says so',
    ),
  ],
  [
    'URLs of webhooks, routing keys and mail passwords of notifications',
    'sealed in `config`',
    'never; of a URL, the origin',
    shown(
      `${control}/notifications/notifications.slow.test.ts`,
      'has its secrets sealed in Kafka and masked in answers, logs and the audit log; a mask keeps them',
    ),
  ],
  ['write keys', 'plain in `config`; public in browsers', '`write` and `admin`', masks],
  [
    'tokens of the API',
    'SHA-256 in `config`',
    'once, when created',
    shown(`${control}/access/tokens.test.ts`, 'a token is shown once, and only its hash is stored'),
  ],
  ['bodies of events', 'plain in the topics', '`write` and `admin`; the audit log has each read', bodies],
  [
    'exports of the configuration',
    'sealed with the secret key or a passphrase',
    'the owner of the key',
    shown(
      'packages/config/src/export/export-file.test.ts',
      'shows its origin in plain text, and no secret, write key or URL',
    ),
  ],
  [
    'secrets in the audit log and in differences',
    'not kept',
    'never',
    shown(
      `${control}/audit/audit.test.ts`,
      'a change leaves who, what, before and after, and from which address, without secrets',
    ),
  ],
];

export const placesAreLeft = shown(
  `${control}/access/shared.test.ts`,
  'limited tokens leave places for others, and one token for other limited ones',
);

/** By what requests share. */
export const sharing: Readonly<Record<SharedName, Evidence>> = {
  streams: shown(
    `${control}/streams/streams.test.ts`,
    'a token has one limit for all its streams, and a stream that ends makes place',
  ),
  streamBytes: shown(
    `${control}/streams/streams.test.ts`,
    'what waits for clients that do not read is bounded for all streams, and others miss nothing',
  ),
  calls: shown(
    `${control}/calls/calls.test.ts`,
    'a flood of one source is counted for those who watch it, and another source is shown beside it',
  ),
  copies: shown(
    `${control}/copies/copies.test.ts`,
    'what is beyond the limit of a second is counted, and nothing is read when nobody listens',
  ),
  replays: shown(
    `${control}/replays/sharing.test.ts`,
    'a limited token leaves places for others, however slow its replays are',
  ),
  endedReplays: shown(
    `${control}/replays/sharing.test.ts`,
    'limited tokens push no replays of others out of the list, and of their own those of the destination with the most',
  ),
  audienceSyncs: shown(
    `${control}/audiences/sharing.test.ts`,
    'a limited token leaves places for others, however slow its syncs are',
  ),
  uploadBytes: shown(
    `${control}/audiences/sharing.test.ts`,
    'an upload that is many times larger than what was sent is refused',
  ),
  audiences: shown(`${control}/audiences/sharing.test.ts`, 'the audiences of a source are bounded'),
  records: placesAreLeft,
  searches: placesAreLeft,
  summaries: shown(
    `${control}/access/shared.test.ts`,
    '17.6 summaries that read many rows have places, and end when the client leaves or after 20 seconds',
  ),
  exports: placesAreLeft,
  testEvents: placesAreLeft,
  transformTests: placesAreLeft,
  notificationTests: placesAreLeft,
  auditReadings: placesAreLeft,
  recalls: shown(
    'services/delivery/src/sources/recall/recall.test.ts',
    'a limited number is in flight, and the next is dispatched when one has ended',
  ),
  deletions: shown(
    `${control}/deletions/deletions.test.ts`,
    'instances that receive requests at the same time send each event once',
  ),
  suppressions: shown(
    `${control}/suppressions/suppressions.test.ts`,
    'beyond the limit are refused with the number that there are, and so are deletions',
  ),
  idempotencyKeys: shown(
    `${control}/idempotency/idempotency.test.ts`,
    'a key is kept for a day, and the number of keys is bounded',
  ),
  issueMarks: shown(
    `${control}/issues/routes.test.ts`,
    'only failures that the history has are marked, with a bounded note, by a token that reaches all sources',
  ),
  endedSessions: shown(
    `${control}/session/ended.test.ts`,
    'of each token a bounded number of ended sessions is kept, until they would have expired',
  ),
  changes: shown(
    'test/integration/control.test.ts',
    'increments and creations by several writers at two instances are all stored',
  ),
  requests: shown(
    `${control}/access/rate-limit.test.ts`,
    'a token has ten seconds of its rate together, then its rate, and others are not affected',
  ),
  refusedRequests: shown(
    `${control}/audit/audit.test.ts`,
    'a token with many refused requests hides none of another token',
  ),
};

/** What shows the scope and the reach of every route. */
export const routeEvidence: readonly Evidence[] = [byScope, hostile, limited];
