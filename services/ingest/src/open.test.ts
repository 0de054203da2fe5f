/** Ingest on an in-memory cluster: HTTP requests, and the resulting records in the topics. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { applyConfiguration } from '@tailrace/config';
import type { ConsumedRecord } from '@tailrace/kafka';
import { headerOf } from '@tailrace/kafka/testing';
import { probesUrlOf } from '@tailrace/service/testing';
import { eventually } from '@tailrace/testing';
import { assertAccepted, assertRefused, call, sendTo, type Answer, type Sent } from './testing/client.ts';
import { names, openStage, type Stage } from './testing/stage.ts';

const sources = [
  { id: 'web', writeKeys: ['wk_web'], enabled: true },
  { id: 'off', writeKeys: ['wk_off'], enabled: false },
  { id: 'slow', writeKeys: ['wk_slow'], enabled: true, rateLimit: 1 },
];

describe('ingest', () => {
  let stage: Stage;
  before(async () => {
    stage = await openStage({ sources });
  });
  after(() => stage[Symbol.asyncDispose]());

  /** To the service that most tests here share. */
  const send = (sent: Partial<Sent> & Pick<Sent, 'path'>): Promise<Answer> =>
    sendTo({ url: stage.url, ...sent });

  function parse(record: ConsumedRecord): Record<string, unknown> {
    return JSON.parse(record.value?.toString() ?? '') as Record<string, unknown>;
  }

  /** The record of `events` with this messageId: what was answered with 200 is there already. */
  async function eventOf(
    messageId: string,
  ): Promise<{ record: ConsumedRecord; event: Record<string, unknown> }> {
    const record = await stage.events.find((record) => parse(record)['messageId'] === messageId);
    return { record, event: parse(record) };
  }

  async function countOf(messageId: string): Promise<number> {
    await stage.events.refresh();
    return stage.events.items.filter((record) => parse(record)['messageId'] === messageId).length;
  }

  const fieldsOf = {
    group: { groupId: 'acme' },
    alias: { previousId: 'anonymous-7' },
    track: { event: 'Tested' },
  };

  for (const [type, letter] of [
    ['track', 't'],
    ['identify', 'i'],
    ['page', 'p'],
    ['screen', 's'],
    ['group', 'g'],
    ['alias', 'a'],
  ] as const) {
    test(`1.1 14.1 a ${type} call is accepted in every form of its path, without a type of its own`, async () => {
      for (const path of [
        `/v1/${type}`,
        `/v1/${letter}`,
        `/v1/${type}/`,
        `//v1/${type}`,
        `/v1/${letter}?sdk=x`,
      ]) {
        const messageId = randomUUID();
        const fields = type in fieldsOf ? fieldsOf[type as keyof typeof fieldsOf] : {};
        assertAccepted(await send({ path, body: { userId: 'ada', messageId, ...fields } }));
        assert.equal((await eventOf(messageId)).event['type'], type);
      }
    });
  }

  test('14.1 a batch is accepted in every form of its path', async () => {
    for (const path of ['/v1/batch', '/v1/b', '/v1/import', '/v1/import/', '//v1/batch', '/v1/batch/']) {
      const calls = [call(), call({ type: 'identify' })];
      assertAccepted(await send({ path, body: { batch: calls } }));
      for (const { messageId } of calls) await eventOf(messageId);
    }
  });

  test('an event is keyed by its user, names its source, and does not hold the write key', async () => {
    const known = call({
      userId: 'ada',
      anonymousId: 'a-1',
      writeKey: 'wk_web',
      properties: { total: 12.5, naïve: '✓' },
    });
    assertAccepted(await send({ path: '/v1/track', body: known }));
    const { record, event } = await eventOf(known.messageId);
    assert.equal(record.key?.toString(), 'ada');
    assert.equal(headerOf(record, 'source-id'), 'web');
    assert.doesNotMatch(record.value?.toString() ?? '', /wk_web/);
    assert.deepEqual(event['properties'], { total: 12.5, naïve: '✓' });
    assert.match(String(event['receivedAt']), /^\d{4}-.*Z$/);

    const anonymous = call({ userId: null, anonymousId: 'a-1' });
    assertAccepted(await send({ path: '/v1/track', body: anonymous }));
    assert.equal((await eventOf(anonymous.messageId)).record.key?.toString(), 'a-1');
  });

  test('3.1 a call without a messageId gets one', async () => {
    const event = `Nameless ${randomUUID()}`;
    assertAccepted(await send({ path: '/v1/track', body: { userId: 'ada', event } }));
    const record = await stage.events.find((record) => parse(record)['event'] === event);
    assert.match(String(parse(record)['messageId']), /^[\da-f-]{36}$/);
  });

  test('14.2 the write key is taken from Basic auth with or without its colon, a Bearer token, or the body', async () => {
    const ways: Partial<Sent>[] = [
      { headers: { authorization: `Basic ${btoa('wk_web:')}` } },
      { headers: { authorization: `Basic ${btoa('wk_web')}` } },
      { headers: { authorization: `basic  ${btoa('wk_web:ignored')}` } },
      { headers: { authorization: 'Bearer wk_web' } },
      { body: call({ writeKey: 'wk_web' }) },
      { headers: { authorization: 'Bearer an.oauth.token' }, body: call({ writeKey: 'wk_web' }) },
    ];
    for (const way of ways)
      assertAccepted(await send({ path: '/v1/track', key: null, body: call(), ...way }));
    assertAccepted(
      await send({ path: '/v1/batch', key: null, body: { writeKey: 'wk_web', batch: [call()] } }),
    );
  });

  test('a request without the write key of an enabled source is refused', async () => {
    const body = call();
    assertRefused(await send({ path: '/v1/track', key: 'wk_unknown', body }), 401, 'unknown-write-key');
    assertRefused(await send({ path: '/v1/track', key: 'wk_off', body }), 401, 'unknown-write-key');
    assertRefused(await send({ path: '/v1/track', key: null, body }), 401, 'unknown-write-key');
    assertRefused(
      await send({ path: '/v1/track', key: null, body, headers: { authorization: 'Basic' } }),
      401,
      'unknown-write-key',
    );
    assert.equal(await countOf(body.messageId), 0);
  });

  test('14.1 the body is read as JSON for any Content-Type', async () => {
    const types = [
      'text/plain',
      'application/x-www-form-urlencoded',
      'application/json; charset=UTF-8',
      'not a media type',
      '',
    ];
    for (const type of types) {
      assertAccepted(await send({ path: '/v1/track', body: call(), headers: { 'content-type': type } }));
    }
    assertAccepted(await send({ path: '/v1/track', body: call() }));
    assertAccepted(await send({ path: '/v1/track', bytes: `\uFEFF${JSON.stringify(call())}` }));
  });

  test('14.1 a body may be compressed with gzip or deflate', async () => {
    const encodings = { gzip: gzipSync, 'x-gzip': gzipSync, deflate: deflateSync, GZIP: gzipSync };
    for (const [encoding, compress] of Object.entries(encodings)) {
      const body = call();
      const bytes = compress(JSON.stringify(body));
      assertAccepted(await send({ path: '/v1/track', bytes, headers: { 'content-encoding': encoding } }));
      await eventOf(body.messageId);
    }
    const raw = deflateRawSync(JSON.stringify(call()));
    assertAccepted(await send({ path: '/v1/track', bytes: raw, headers: { 'content-encoding': 'deflate' } }));
  });

  test('a body in another encoding, or not in the one it names, is refused', async () => {
    const brotli = brotliCompressSync(JSON.stringify(call()));
    assertRefused(
      await send({ path: '/v1/track', bytes: brotli, headers: { 'content-encoding': 'br' } }),
      415,
      'unsupported-encoding',
    );
    for (const bytes of [brotli, gzipSync(JSON.stringify(call())).subarray(0, 30)]) {
      assertRefused(
        await send({ path: '/v1/track', bytes, headers: { 'content-encoding': 'gzip' } }),
        400,
        'malformed-request',
      );
    }
  });

  /** A call of exactly `bytes` bytes. */
  function callOf(bytes: number): string {
    const empty = JSON.stringify(call({ properties: { padding: '' } }));
    return JSON.stringify(call({ properties: { padding: 'x'.repeat(bytes - empty.length) } }));
  }

  test('2.1 a call may have 32 KB and no more, after decompression', async () => {
    assertAccepted(await send({ path: '/v1/track', bytes: callOf(32 * 1024) }));
    const larger = callOf(32 * 1024 + 1);
    assertRefused(await send({ path: '/v1/track', bytes: larger }), 413, 'call-too-large');
    const gzip = { 'content-encoding': 'gzip' };
    assertAccepted(await send({ path: '/v1/track', bytes: gzipSync(callOf(32 * 1024)), headers: gzip }));
    assertRefused(
      await send({ path: '/v1/track', bytes: gzipSync(larger), headers: gzip }),
      413,
      'call-too-large',
    );
  });

  test('2.2 2.3 a batch may have 500 KB and 2,500 calls and no more, after decompression', async () => {
    const small = { type: 'track', event: 'e', userId: 'u' };
    const padded = (bytes: number): string => {
      const empty = JSON.stringify({ batch: [small], padding: '' });
      return JSON.stringify({ batch: [small], padding: 'x'.repeat(bytes - empty.length) });
    };
    assertAccepted(await send({ path: '/v1/batch', bytes: padded(500 * 1024) }));
    assertRefused(await send({ path: '/v1/batch', bytes: padded(500 * 1024 + 1) }), 413, 'batch-too-large');
    const bomb = gzipSync(Buffer.alloc(100 * 2 ** 20));
    assertRefused(
      await send({ path: '/v1/batch', bytes: bomb, headers: { 'content-encoding': 'gzip' } }),
      413,
      'batch-too-large',
    );
    assertAccepted(await send({ path: '/v1/batch', body: { batch: Array<object>(2_500).fill(small) } }));
    assertRefused(
      await send({ path: '/v1/batch', body: { batch: Array<object>(2_501).fill(small) } }),
      413,
      'batch-too-large',
    );
  });

  test('14.4 an invalid call of a batch is listed in the response and stored unchanged, and the valid ones are accepted', async () => {
    const good = call();
    const bad = call({ event: '', userId: 'ben', odd: { ключ: [1, null] } });
    const large = call({ properties: { padding: 'x'.repeat(33 * 1024) } });
    const { status, json } = await send({ path: '/v1/batch', body: { batch: [bad, good, 7, large] } });
    assert.equal(status, 200);
    assert.equal(json['success'], true);
    const problems = json['rejected'] as Record<string, unknown>[];
    assert.deepEqual(
      problems.map(({ index, messageId, code }) => ({ index, messageId, code })),
      [
        { index: 0, messageId: bad.messageId, code: 'invalid-call' },
        { index: 2, messageId: undefined, code: 'invalid-call' },
        { index: 3, messageId: large.messageId, code: 'call-too-large' },
      ],
    );
    assert.match(String(problems[0]?.['message']), /^event is required/);
    await eventOf(good.messageId);
    assert.equal(await countOf(bad.messageId), 0);

    const record = await stage.rejected.find(({ value }) => value?.includes(bad.messageId) ?? false);
    assert.equal(record.value?.toString(), JSON.stringify(bad));
    assert.equal(record.key?.toString(), 'ben');
    assert.equal(headerOf(record, 'error-code'), 'invalid-call');
    assert.equal(headerOf(record, 'error-message'), problems[0]?.['message']);
    assert.equal(headerOf(record, 'source-id'), 'web');
    assert.equal(headerOf(record, 'origin'), 'ingest');
    await stage.rejected.find(({ key, value }) => key === null && value?.toString() === '7');
  });

  test('14.4 a batch without a valid call is refused with the error of the first and each problem, and none of it counts as rejected', async () => {
    const batch = [call({ userId: null }), call({ type: 'delete' })];
    const answer = await send({ path: '/v1/batch', body: { batch } });
    assertRefused(answer, 400, 'invalid-call');
    assert.equal((answer.json['rejected'] as unknown[]).length, 2);
    const large = call({ properties: { padding: 'x'.repeat(33 * 1024) } });
    const first = await send({ path: '/v1/batch', body: { batch: [large, ...batch] } });
    assertRefused(first, 413, 'call-too-large');
    await stage.rejected.refresh();
    for (const { messageId } of [...batch, large])
      assert.ok(!stage.rejected.items.some(({ value }) => value?.includes(messageId)));
  });

  test('a batch with nothing in it is accepted, and something that is no batch is not', async () => {
    assertAccepted(await send({ path: '/v1/batch', body: { batch: null } }));
    assertAccepted(await send({ path: '/v1/batch', body: { batch: [] } }));
    for (const body of [
      {},
      [call()],
      { batch: call() },
      { batch: 'x' },
      null,
      { batch: [call()], context: 7 },
    ]) {
      assertRefused(await send({ path: '/v1/batch', body }), 400, 'invalid-call');
    }
  });

  test('14.5 the context and integrations of a batch go into its calls', async () => {
    const body = call({ context: { own: 1 }, integrations: { A: true } });
    const batch = { batch: [body], context: { shared: 2, own: 3 }, integrations: { All: false } };
    assertAccepted(await send({ path: '/v1/batch', body: batch }));
    const { event } = await eventOf(body.messageId);
    assert.deepEqual(event['context'], { shared: 2, own: 1 });
    assert.deepEqual(event['integrations'], { All: false, A: true });
  });

  test('a few hundred bytes that would become 150 MB of events are refused', async () => {
    const small = { type: 'track', event: 'e', userId: 'u' };
    const body = { context: { padding: 'x'.repeat(62_000) }, batch: Array<object>(2_500).fill(small) };
    const bytes = gzipSync(JSON.stringify(body));
    assert.ok(bytes.length < 1_000, `${bytes.length} bytes`);
    const headers = { 'content-encoding': 'gzip' };
    assertRefused(await send({ path: '/v1/batch', bytes, headers }), 413, 'batch-too-large');
  });

  test('a body that is not a JSON object in UTF-8 is refused', async () => {
    const malformed = [
      '',
      '{',
      '{"a":1}x',
      Buffer.from('{"userId":"\xff\xfe"}', 'latin1'),
      Buffer.from('{"a":"b"}', 'utf16le'),
    ];
    for (const bytes of malformed)
      assertRefused(await send({ path: '/v1/track', bytes }), 400, 'malformed-json');
    for (const bytes of ['7', '"text"', '[]', 'null']) {
      assertRefused(await send({ path: '/v1/track', bytes }), 400, 'invalid-call');
    }
  });

  test('too deep nesting is refused and affects no other request', async () => {
    const deep = `${'['.repeat(10_000)}${']'.repeat(10_000)}`;
    const bomb = JSON.stringify(call({ properties: { deep: 0 } })).replace('"deep":0', `"deep":${deep}`);
    assertRefused(await send({ path: '/v1/track', bytes: bomb }), 400, 'invalid-call');
    const good = call();
    const { status, json } = await send({
      path: '/v1/batch',
      bytes: `{"batch":[${bomb},${JSON.stringify(good)}]}`,
    });
    assert.deepEqual([status, (json['rejected'] as unknown[]).length], [200, 1]);
    await eventOf(good.messageId);
  });

  test('a call with a key called __proto__ changes nothing but itself', async () => {
    const { messageId } = call();
    const bytes = `{"userId":"ada","event":"e","messageId":"${messageId}","properties":{"__proto__":{"polluted":true}}}`;
    assertAccepted(await send({ path: '/v1/track', bytes }));
    const { record } = await eventOf(messageId);
    assert.match(record.value?.toString() ?? '', /"properties":\{"__proto__":\{"polluted":true\}\}/);
  });

  test('browsers may send calls from any page, and read errors', async () => {
    const preflight = await send({
      path: '/v1/t',
      method: 'OPTIONS',
      key: null,
      headers: {
        origin: 'https://example.com',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization,x-retry-count',
      },
    });
    assert.equal(preflight.status, 204);
    assert.equal(preflight.headers['access-control-allow-origin'], '*');
    assert.match(String(preflight.headers['access-control-allow-methods']), /POST/);
    for (const header of ['authorization', 'content-type', 'x-retry-count']) {
      assert.ok(String(preflight.headers['access-control-allow-headers']).toLowerCase().includes(header));
    }
    assert.equal(preflight.headers['access-control-max-age'], '86400');

    const accepted = await send({ path: '/v1/t', body: call() });
    assert.equal(accepted.headers['access-control-allow-origin'], '*');
    assert.equal(accepted.headers['access-control-expose-headers'], 'Retry-After');
    assertRefused(await send({ path: '/v1/elsewhere', body: call() }), 404, 'not-found');
    assertRefused(await send({ path: '/v1/%', body: call() }), 404, 'not-found');
    assertRefused(await send({ path: '/v1/track', method: 'GET' }), 404, 'not-found');
  });

  test('the browser SDK gets its settings, and its metrics are accepted', async () => {
    const settings = await send({
      path: '/v1/projects/wk_web/settings',
      method: 'GET',
      key: null,
      headers: { host: 'in.example.com' },
    });
    assert.equal(settings.status, 200);
    assert.deepEqual(settings.json, {
      integrations: { 'Segment.io': { apiKey: 'wk_web', apiHost: 'in.example.com/v1', protocol: 'http' } },
    });
    assert.equal(settings.headers['access-control-allow-origin'], '*');
    const unknown = await send({ path: '/v1/projects/wk_unknown/settings', method: 'GET', key: null });
    assertRefused(unknown, 401, 'unknown-write-key');
    assertAccepted(
      await send({
        path: '/v1/m',
        key: null,
        bytes: '{"series":[]}',
        headers: { 'content-type': 'text/plain' },
      }),
    );
  });

  test('a pixel is a call by GET', async () => {
    const body = call({ writeKey: 'wk_web', type: undefined, properties: { subject: '???>>>' } });
    const data = Buffer.from(JSON.stringify(body));
    for (const encoded of [
      encodeURIComponent(data.toString('base64')),
      data.toString('base64url'),
      data.toString('base64'),
    ]) {
      const answer = await send({ path: `/v1/pixel/track?data=${encoded}`, method: 'GET', key: null });
      assert.deepEqual([answer.status, answer.headers['content-type']], [200, 'image/gif']);
      assert.match(answer.text, /^GIF89a/);
    }
    assert.equal(await countOf(body.messageId), 3);
    assertRefused(await send({ path: '/v1/pixel/track', method: 'GET', key: null }), 400, 'malformed-json');
    assertRefused(
      await send({ path: '/v1/pixel/track?data=e30', method: 'GET', key: null }),
      401,
      'unknown-write-key',
    );
  });

  test('a valid traceparent goes with the event, and an invalid one does not', async () => {
    const valid = `00-${'a1'.repeat(16)}-${'b2'.repeat(8)}-01`;
    const invalid = [
      `00-${'0'.repeat(32)}-${'b2'.repeat(8)}-01`,
      `ff-${'a1'.repeat(16)}-${'b2'.repeat(8)}-01`,
      'junk',
    ];
    for (const traceparent of [valid, ...invalid]) {
      const body = call();
      assertAccepted(await send({ path: '/v1/track', body, headers: { traceparent } }));
      const { record } = await eventOf(body.messageId);
      assert.equal(headerOf(record, 'traceparent'), traceparent === valid ? valid : undefined);
    }
  });

  test('14.8 a source over its rate limit gets Retry-After', async () => {
    const batch = {
      path: '/v1/batch',
      key: 'wk_slow',
      body: { batch: Array.from({ length: 60 }, () => call()) },
    };
    const tooLarge = await send(batch);
    assertRefused(tooLarge, 429, 'rate-limited');
    assert.equal(tooLarge.headers['retry-after'], '60');
    const tracked = { path: '/v1/track', key: 'wk_slow', body: call() };
    assertAccepted(await send(tracked));
    const answer = await eventually(
      () => send(tracked),
      ({ status }) => status === 429,
    );
    assertRefused(answer, 429, 'rate-limited');
    // Half of the rate is saved for the batch.
    assert.match(String(answer.headers['retry-after']), /^[12]$/);
    assertAccepted(await send({ path: '/v1/track', body: call() }));
  });

  test('a write key that has just been configured is accepted, and junk keys are refused all the while', async () => {
    const tracked = { path: '/v1/track', key: 'wk_fresh', body: call() };
    assertRefused(await send(tracked), 401, 'unknown-write-key');
    const source = { id: 'fresh', writeKeys: ['wk_fresh'], enabled: true };
    await applyConfiguration(stage.kafka, names.config, { sources: [source], destinations: [] });
    await eventually(
      () => send(tracked),
      ({ status }) => status === 200,
    );
    assertRefused(await send({ path: '/v1/track', key: 'wk_junk', body: call() }), 401, 'unknown-write-key');
  });

  test('bytes that are not HTTP are answered with JSON too', async () => {
    const { port } = new URL(stage.url);
    const socket = connect(Number(port), '127.0.0.1');
    socket.end('nonsense\r\n\r\n');
    const chunks: Buffer[] = [];
    for await (const chunk of socket) chunks.push(chunk as Buffer);
    const [head = '', body = ''] = Buffer.concat(chunks).toString().split('\r\n\r\n');
    assert.match(head, /^HTTP\/1\.1 400 Bad Request\r\n/);
    assert.match(head, /^access-control-allow-origin: \*$/m);
    assert.equal((JSON.parse(body) as { code: string }).code, 'malformed-request');
  });

  test('accepted calls, rejected calls and requests are counted', async () => {
    const metrics = await stage.metrics();
    for (const pattern of [
      /^tailrace_ingest_calls_total\{type="track"\} [1-9]/m,
      /^tailrace_ingest_rejected_total\{code="invalid-call"\} [1-9]/m,
      /^tailrace_ingest_refused_requests_total\{code="unknown-write-key"\} [1-9]/m,
      /^tailrace_ingest_request_duration_seconds_count\{route="batch"\} [1-9]/m,
      /^tailrace_ingest_received_bytes_total [1-9]/m,
      /^tailrace_ingest_buffered_bytes 0$/m,
    ]) {
      assert.match(metrics, pattern);
    }
    const ready = await fetch(`${probesUrlOf(stage.service)}/readyz`);
    assert.equal(ready.status, 200, await ready.text());
  });

  test('14.3 at its stop each accepted request is answered, and each call with a 200 is in Kafka', async () => {
    await using stopping = await stage.start();
    const calls = Array.from({ length: 200 }, () => call());
    const answers = calls.map(async (body) => {
      try {
        return (await send({ path: '/v1/track', body, url: stopping.url })).status;
      } catch {
        return undefined;
      }
    });
    await Promise.any(answers);
    await stopping.service.stop();
    const statuses = await Promise.all(answers);
    for (const [index, { messageId }] of calls.entries()) {
      if (statuses[index] !== undefined) assert.equal(statuses[index], 200);
      if (statuses[index] === 200) assert.equal(await countOf(messageId), 1);
    }
  });

  test('14.7 a call that was answered with 503 may be stored, and is the same event where it is sent again', async () => {
    await using alone = await openStage({ sources, env: { TAILRACE_INGEST_ACK_TIMEOUT: '100ms' } });
    const body = call();
    const track = (): Promise<Answer> => send({ path: '/v1/track', body, url: alone.url });
    alone.cluster.pauseAcknowledgements();
    assertRefused(await track(), 503, 'kafka-unavailable');
    alone.cluster.resumeAcknowledgements();
    assertAccepted(await eventually(track, ({ status }) => status === 200));
    const events = await alone.events.waitFor((records) => records.length >= 2);
    for (const event of events.map(parse))
      assert.partialDeepStrictEqual(event, { messageId: body.messageId, event: body['event'] });
  });

  test('while Kafka is unavailable nothing is accepted; afterwards ingest recovers', async () => {
    await using alone = await openStage({ sources, env: { TAILRACE_INGEST_ACK_TIMEOUT: '100ms' } });
    const track = (): Promise<Answer> => send({ path: '/v1/track', body: call(), url: alone.url });
    await eventually(track, ({ status }) => status === 200);

    alone.cluster.stop();
    const answer = await track();
    assertRefused(answer, 503, 'kafka-unavailable');
    assert.match(String(answer.headers['retry-after']), /^\d+$/);

    alone.cluster.start();
    await eventually(track, ({ status }) => status === 200);
  });
});
