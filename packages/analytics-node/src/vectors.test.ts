/**
 * Runs the vectors that the Go and TypeScript libraries share (packages/analytics-vectors) against a recording
 * server.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { describe, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { delayed } from '../../../test/support/receivers/answers.ts';
import { isEnabled } from './core/report.ts';
import { isIso8601 } from './core/timestamp.ts';
import { Analytics, AnalyticsError, type CallType } from './index.ts';

type Json = Readonly<Record<string, unknown>>;

interface Scenario {
  readonly name: string;
  /** The libraries it applies to. */
  readonly only?: readonly string[];
  readonly options: {
    readonly writeKey?: string;
    readonly endpointSuffix?: string;
    readonly flushAt?: number;
    readonly size?: number;
    readonly flushAfterMs?: number;
    readonly intervalMs?: number;
    readonly gzip?: boolean;
    readonly context?: object;
    readonly queueSize?: number;
    readonly maxAttempts?: number;
    readonly maxAgeMs?: number;
    readonly timeoutMs?: number;
    readonly drainTimeoutMs?: number;
  };
  readonly server: readonly Answer[];
  readonly poison?: Poison;
  readonly steps: readonly Step[];
  readonly expect: {
    readonly requests?: readonly ExpectedRequest[];
    readonly taken?: readonly string[];
    readonly takenAside?: readonly string[];
    readonly failures: readonly Failure[];
    readonly anyGrouping?: boolean;
  };
}

interface Failure {
  readonly reason: string;
  readonly status?: number;
  readonly messageIds: readonly string[];
}

interface Poison {
  readonly messageIds: readonly string[];
  readonly answer: Answer;
}

interface Answer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly retryAfterDateMs?: number;
  readonly delayMs?: number;
  readonly hold?: boolean;
  readonly close?: boolean;
  readonly cutOff?: boolean;
  readonly hang?: boolean;
}

interface Step {
  readonly call?: CallType;
  readonly message?: Json;
  readonly times?: number;
  readonly error?: { readonly kind: string; readonly field?: string };
  readonly flush?: boolean;
  readonly awaitRequests?: number;
  readonly awaitTaken?: number;
  readonly release?: boolean;
  readonly close?: boolean;
  readonly incomplete?: boolean;
  readonly unsent?: number;
}

interface ExpectedRequest {
  readonly messages: readonly Json[];
  readonly repeat?: number;
  readonly path?: string;
  readonly authorization?: string;
  readonly encoding?: string;
  readonly context?: Json;
  readonly minWaitMs?: number;
  readonly sameMessages?: boolean;
}

interface Recorded {
  readonly method: string | undefined;
  readonly path: string | undefined;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Json & { readonly batch: readonly Json[]; readonly context: Json; readonly sentAt: string };
  readonly bytes: number;
  readonly readAt: number;
  answeredAt: number;
}

const readVectors = (name: string): unknown =>
  JSON.parse(readFileSync(new URL(`../../analytics-vectors/${name}`, import.meta.url), 'utf8'));

const vectors = readVectors('vectors.json') as {
  readonly envelope: Json & { readonly context: Json };
  readonly maxBodyBytes: number;
  readonly scenarios: readonly Scenario[];
};
const delivery = readVectors('delivery.json') as { readonly scenarios: readonly Scenario[] };
const aside = readVectors('aside.json') as { readonly scenarios: readonly Scenario[] };
const tables = readVectors('tables.json') as {
  readonly timestamps: { readonly valid: readonly string[]; readonly invalid: readonly string[] };
  readonly debug: readonly { readonly value: string; readonly enabled: boolean }[];
};

describe('the vectors', { concurrency: true }, () => {
  for (const scenario of [...vectors.scenarios, ...delivery.scenarios, ...aside.scenarios]) {
    if (scenario.only?.includes('node') ?? true) test(scenario.name, () => play(scenario));
  }
});

test('the timestamps of the vectors are taken, or refused', () => {
  const { valid, invalid } = tables.timestamps;
  assert.deepEqual(valid.filter(isIso8601), valid);
  assert.deepEqual(invalid.filter(isIso8601), []);
});

test('the values of DEBUG in the vectors enable the output, or do not', () => {
  for (const { value, enabled } of tables.debug) assert.equal(isEnabled(value), enabled, value);
});

async function play({ options, server: answers, poison, steps, expect }: Scenario): Promise<void> {
  await using server = await startRecordingServer(answers, poison);
  const failures: AnalyticsError[] = [];
  const {
    writeKey = 'wk_test',
    endpointSuffix = '',
    gzip,
    context,
    maxAttempts,
    maxAgeMs,
    timeoutMs,
  } = options;
  const client = new Analytics({
    writeKey,
    endpoint: `${server.origin}${endpointSuffix}`,
    flushAt: options.size ?? options.flushAt,
    flushAfterMs: options.intervalMs ?? options.flushAfterMs ?? 60_000,
    maxQueueSize: options.queueSize,
    gzip,
    context,
    maxAttempts,
    maxAgeMs,
    timeoutMs,
    onError: (error) => failures.push(error),
  });
  const { drainTimeoutMs: deadlineMs = 30_000 } = options;

  for (const step of steps) {
    if (step.call) makeCalls(client, step.call, step);
    if (step.flush) await client.flush();
    if (step.awaitRequests !== undefined) await server.received(step.awaitRequests);
    if (step.awaitTaken !== undefined) await server.hasTaken(step.awaitTaken);
    if (step.release) server.release();
    if (step.close) {
      const { unsent } = await client.close({ deadlineMs });
      assert.equal(
        failures.some(({ code }) => code === 'closed'),
        step.incomplete ?? false,
      );
      if (step.unsent !== undefined) assert.equal(unsent, step.unsent);
    }
  }
  await client.close({ deadlineMs });
  if (expect.taken === undefined) assertRequests(server.requests, expect, writeKey);
  else {
    const inOrder = server.taken.slice(0, expect.taken.length);
    const others = server.taken.slice(expect.taken.length).sort();
    assert.deepEqual([inOrder, others], [expect.taken, expect.takenAside ?? []]);
  }
  // The call itself returned that the queue was full.
  const reported = failures.filter(({ code }) => code !== 'queue-full').map(describeFailure);
  assert.deepEqual(joined(reported), joined(expect.failures));
}

function makeCalls(client: Analytics, type: CallType, { message, times = 1, error }: Step): void {
  // Some vectors are invalid on purpose.
  const call = client[type].bind(client) as (message: unknown) => boolean;
  const given = expand(message);
  for (let i = 0; i < times; i++) {
    if (error === undefined) assert.equal(call(given), true);
    else if (error.kind === 'queue-full') assert.equal(call(given), false);
    else {
      assert.throws(
        () => call(given),
        (thrown) => {
          assert.ok(thrown instanceof AnalyticsError);
          const code =
            { invalid: 'invalid-message', 'too-large': 'message-too-large' }[error.kind] ?? error.kind;
          assert.deepEqual([thrown.code, thrown.field], [code, error.field]);
          return true;
        },
      );
    }
  }
  assert.deepEqual(given, expand(message), 'the message is as it was');
}

function assertRequests(
  requests: readonly Recorded[],
  { requests: expectedRequests = [], anyGrouping }: Scenario['expect'],
  writeKey: string,
): void {
  const sent = requests.map(({ body }) => body.batch);
  if (anyGrouping) {
    const messages = [...new Map(sent.flat().map((message) => [message['messageId'], message])).values()];
    assertMatches(messages, expand(expectedRequests.flatMap(({ messages }) => messages)), 'messages');
  } else {
    assert.equal(requests.length, expectedRequests.length, `${requests.length} requests`);
  }
  for (const [index, request] of requests.entries()) {
    const expected: ExpectedRequest = anyGrouping
      ? { messages: [] }
      : (expectedRequests[index] ?? assert.fail());
    const authorization = `Basic ${Buffer.from(`${writeKey}:`).toString('base64')}`;
    const { headers, body } = request;
    assert.equal(request.method, 'POST');
    assert.equal(request.path, expected.path ?? '/v1/batch');
    assert.equal(headers['authorization'], expected.authorization ?? authorization);
    assert.equal(headers['content-encoding'], expected.encoding);
    assert.equal(headers['content-type'], 'application/json');
    assert.ok(request.bytes <= vectors.maxBodyBytes, `${request.bytes} bytes`);
    const { batch, ...beside } = body;
    const context = { ...vectors.envelope.context, ...expected.context };
    assertMatches(beside, { ...vectors.envelope, context }, 'what is beside the batch');
    if (anyGrouping) continue;
    const messages = Array.from({ length: expected.repeat ?? 1 }, () => expected.messages).flat();
    assertMatches(batch, expand(messages), `request ${index + 1}`);
    const before = requests[index - 1];
    if (before && expected.sameMessages) assert.deepEqual(batch, before.body.batch);
    if (before && expected.minWaitMs !== undefined) {
      // Timers and clocks round to a millisecond each.
      const waitedMs = request.readAt - before.answeredAt + 2;
      assert.ok(waitedMs >= expected.minWaitMs, `waited ${waitedMs} ms`);
    }
  }
}

/** Reports with the same reason and status that follow one another are compared together. */
function joined(failures: readonly Failure[]): Failure[] {
  const all: Failure[] = [];
  for (const failure of failures) {
    const last = all.at(-1);
    if (last?.reason !== failure.reason || last.status !== failure.status) all.push(failure);
    else all.splice(-1, 1, { ...last, messageIds: [...last.messageIds, ...failure.messageIds] });
  }
  return all;
}

function describeFailure({ code, status, calls }: AnalyticsError): Failure {
  const messageIds = calls.map((call) => (JSON.parse(call) as { messageId: string }).messageId);
  return { reason: code, ...(status !== undefined && { status }), messageIds };
}

/** Expands `$repeat`. */
function expand(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(expand);
  if (typeof value !== 'object' || value === null) return value;
  if ('$repeat' in value) {
    const [text, count] = value.$repeat as [string, number];
    return text.repeat(count);
  }
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, expand(inner)]));
}

/** Asserts JSON equality, except for texts that `$match` describes. */
function assertMatches(actual: unknown, expected: unknown, where: string): void {
  const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null;
  if (!isObject(expected)) {
    assert.equal(actual, expected, where);
    return;
  }
  if (typeof expected['$match'] === 'string') {
    assert.match(String(actual), new RegExp(expected['$match']), where);
    return;
  }
  assert.ok(isObject(actual) && Array.isArray(actual) === Array.isArray(expected), where);
  assert.deepEqual(Object.keys(actual).sort(), Object.keys(expected).sort(), where);
  for (const [key, inner] of Object.entries(expected)) assertMatches(actual[key], inner, `${where}.${key}`);
}

async function startRecordingServer(answers: readonly Answer[], poison?: Poison) {
  const requests: Recorded[] = [];
  const taken: string[] = [];
  const waiting: { readonly isReached: () => boolean; readonly resolve: () => void }[] = [];
  const changed = (): void => {
    for (const { isReached, resolve } of waiting) if (isReached()) resolve();
  };
  const reached = (isReached: () => boolean): Promise<void> =>
    isReached()
      ? Promise.resolve()
      : new Promise((resolve) => {
          waiting.push({ isReached, resolve });
        });
  let release = (): void => undefined;
  let isReleased = false;
  const released = new Promise<void>((resolve) => {
    release = () => {
      isReleased = true;
      resolve();
    };
  });

  const server = createServer((incoming, response) => {
    void buffer(incoming).then(async (bytes) => {
      const { method, url: path, headers } = incoming;
      const json = headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes;
      const body = JSON.parse(json.toString()) as Recorded['body'];
      const request = { method, path, headers, body, bytes: json.length, readAt: Date.now(), answeredAt: 0 };
      const ids = body.batch.map(({ messageId }) => String(messageId));
      const isPoisoned = !isReleased && ids.some((id) => poison?.messageIds.includes(id));
      const answer = answers[requests.push(request) - 1] ?? (isPoisoned ? poison?.answer : undefined) ?? {};
      changed();
      if (answer.hold) await released;
      const answerNow = (): void => {
        request.answeredAt = Date.now();
        respond(response, answer);
        if ((answer.status ?? 200) !== 200) return;
        taken.push(...ids);
        changed();
      };
      if (answer.delayMs === undefined) answerNow();
      else delayed(answer.delayMs, answerNow)(response);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    requests,
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    release,
    taken,
    received: (count: number) => reached(() => requests.length >= count),
    hasTaken: (count: number) => reached(() => taken.length >= count),
    [Symbol.asyncDispose]: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

function respond(response: ServerResponse, answer: Answer): void {
  if (answer.hang) return;
  if (answer.close) {
    response.destroy();
    return;
  }
  if (answer.cutOff) {
    response.writeHead(200, { 'content-length': '100' });
    response.write('{"success":', () => response.destroy());
    return;
  }
  const { status = 200, headers, body = '{"success":true}', retryAfterDateMs } = answer;
  if (retryAfterDateMs !== undefined) {
    // Whole seconds, so that the date is not earlier than intended.
    const date = new Date(Math.ceil((Date.now() + retryAfterDateMs) / 1_000) * 1_000);
    response.setHeader('retry-after', date.toUTCString());
  }
  response.writeHead(status, { ...headers }).end(status === 204 ? undefined : body);
}
