/**
 * Outcomes and retries (docs/specification.md, sections 9 and 10), with a retry schedule of seconds. Their times are tested on
 * simulated time, in services/delivery/src/settle/schedule.slow.test.ts.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { collect, type Collected } from '@tailrace/testing';
import type { AttemptRecord } from '@tailrace/records';
import {
  destinationOf,
  newDelivery,
  openDeliveryStage,
  type DeliveryStage,
} from '../support/processes/delivery.ts';
import { startPipeline, type Connection } from '../support/processes/pipeline.ts';
import type { LogLine } from '../support/processes/process.ts';
import * as answers from '../support/receivers/answers.ts';
import { certificates, type Certificate } from '../support/receivers/certificates.ts';
import { startReceiver, type Receiver } from '../support/receivers/receiver.ts';

const pipeline = await startPipeline({
  retrySchedule: '1s,1s,2s',
  retryWindow: '4h',
  // A receiver in the process of a busy test may take seconds to answer, which is no failure.
  deliveryTimeout: '1m',
});
after(() => pipeline[Symbol.asyncDispose]());

/** Sends one track call to a destination with these URLs. */
async function sendTo(...urls: readonly string[]): Promise<Connection> {
  const connection = await pipeline.connect({ webhooks: urls.map((url) => ({ url })) });
  await connection.send('track', { userId: 'ada', event: 'Signed Up' });
  return connection;
}

/** Resolves once the delivery to the destination has succeeded, and asserts that it is not retried. */
async function delivered({ destinationId }: Connection): Promise<void> {
  const { attempt } = await pipeline.attempt(destinationId, 'delivered');
  for (const delayMs of [1_000, 2_000]) {
    const retries = await pipeline.deliveriesIn(pipeline.names.retryTier(delayMs), destinationId);
    assert.ok(retries.every((retry) => retry.attempt < attempt));
  }
}

/** Asserts that all requests had the same bytes. */
function assertRetried({ requests }: Receiver): void {
  for (const { body, headers } of requests) {
    assert.deepEqual(body, requests[0]?.body);
    assert.deepEqual(headers['x-signature'], requests[0]?.headers['x-signature']);
  }
}

/** An address that refuses connections until a receiver is started there. Nobody else can, as its port is in use. */
async function closedAddress() {
  const holder = createServer().listen(0, '127.0.0.1');
  await once(holder, 'listening');
  const { port } = holder.address() as AddressInfo;
  const address = '127.0.0.2';
  return { port, address, url: `http://${address}:${port}`, [Symbol.dispose]: () => holder.close() };
}

describe('deliveries', { concurrency: true }, () => {
  test('9.1 any 2xx is success', async () => {
    for (const code of [200, 201, 202, 204, 299]) {
      await using receiver = await startReceiver({ answer: () => answers.status(code) });
      await delivered(await sendTo(receiver.url));
      assert.equal(receiver.requests.length, 1);
    }
  });

  test('7.3 response: its body is not used', async () => {
    for (const answer of [
      answers.status(200, { 'content-type': 'application/json' }, '{"success": false, "err'),
      answers.hugeBody(200, 5_000_000),
      answers.trickle(200, 100),
      answers.status(200, { 'content-length': '1000' }, 'short'),
    ]) {
      await using receiver = await startReceiver({ answer: () => answer });
      await delivered(await sendTo(receiver.url));
      assert.equal(receiver.requests.length, 1);
    }
  });

  test('7.3 response: one that arrives within the timeout is in time', async () => {
    await using receiver = await startReceiver({ answer: () => answers.delayed(400, answers.status(200)) });
    await delivered(await sendTo(receiver.url));
    assert.equal(receiver.requests.length, 1);
  });

  test('9.1 connections: no event is lost where the receiver closes an idle connection', async () => {
    await using receiver = await startReceiver({ answer: () => answers.thenClose(answers.status(200)) });
    const { send } = await pipeline.connect({ webhooks: [{ url: receiver.url }] });
    const events = ['First', 'Second', 'Third', 'Fourth', 'Fifth'];
    for (const event of events) await send('track', { userId: 'ada', event });
    await receiver.waitFor((requests) => {
      const arrived = requests.map((request) => (request.json() as { event: string }).event);
      return events.every((event) => arrived.includes(event));
    });
  });

  test('7.1 each event is sent to all configured URLs', async () => {
    await using receiver = await startReceiver();
    const paths = ['/1', '/2', '/3', '/4', '/5'];
    await delivered(await sendTo(...paths.map((path) => receiver.url + path)));
    await receiver.waitFor(5);
    assert.deepEqual(receiver.requests.map(({ path }) => path).sort(), paths);
  });

  test('9.2 when one URL succeeds, the event is not retried to the others', async () => {
    await using failing = await startReceiver({ answer: () => answers.status(503) });
    await using working = await startReceiver();
    await using refusing = await startReceiver({ answer: () => answers.status(404) });
    using closed = await closedAddress();
    const connection = await sendTo(failing.url, working.url, refusing.url, closed.url);
    await delivered(connection);
    await Promise.all([failing.waitFor(1), refusing.waitFor(1)]);
    assert.deepEqual([failing.requests.length, working.requests.length, refusing.requests.length], [1, 1, 1]);
  });

  test('9.3 while none succeeds, the event is retried to all that failed temporarily', async () => {
    await using failing = await startReceiver({ answer: () => answers.status(503) });
    await using recovering = await startReceiver({
      answer: answers.sequence(answers.status(500), answers.status(200)),
    });
    await using refusing = await startReceiver({ answer: () => answers.status(410) });
    await delivered(await sendTo(failing.url, recovering.url, refusing.url));
    await failing.waitFor(2);
    assert.deepEqual(
      [failing.requests.length, recovering.requests.length, refusing.requests.length],
      [2, 2, 1],
    );
  });

  test('7.4 an HTTPS endpoint with a certificate of a known authority gets the event', async () => {
    await using receiver = await startReceiver({ tls: certificates().trusted });
    await delivered(await sendTo(receiver.url));
    await delivered(await sendTo(`https://localhost:${receiver.port}`));
    await receiver.waitFor(2);
  });
});

describe('errors', { concurrency: true }, () => {
  for (const code of [500, 501, 502, 503, 504, 599]) {
    test(`9.1 response status 5xx: ${code} is retried until it succeeds`, async () => {
      const failing = answers.status(code);
      await using receiver = await startReceiver({
        answer: answers.sequence(failing, failing, answers.status(200)),
      });
      await delivered(await sendTo(receiver.url));
      assert.equal(receiver.requests.length, 3);
      assertRetried(receiver);
    });
  }

  test('10.4 response status 5xx: the event is retried several times and becomes a dead letter after the last one', async () => {
    await using receiver = await startReceiver({ answer: () => answers.status(500, {}, 'out of order') });
    const { destinationId } = await sendTo(receiver.url);
    const letter = await pipeline.deadLetter(destinationId);
    assert.equal(receiver.requests.length, 4);
    assertRetried(receiver);
    assert.equal(letter.reason, 'attempts-exhausted');
    assert.equal(letter.attempt, 4);
    assert.match(letter.lastAnswer ?? '', /500/);
    assert.deepEqual(letter.body, receiver.requests[0]?.body);
  });

  /** For a certificate that must not be trusted, the delivery becomes a dead letter, and no request is sent. */
  async function assertNotSent(tls: Certificate, reason: string): Promise<void> {
    await using receiver = await startReceiver({ tls });
    const { destinationId } = await sendTo(receiver.url);
    const letter = await pipeline.deadLetter(destinationId);
    assert.equal(letter.reason, reason);
    assert.equal(receiver.requests.length, 0);
    assert.ok(receiver.connections.items.length > 0, 'it was tried');
    await pipeline.delivery.log.find(
      (line) => line['destinationId'] === destinationId && JSON.stringify(line).includes(reason),
    );
  }

  test('9.1 self-signed certificate: an error is raised and no request is sent', () =>
    assertNotSent(certificates().selfSigned, 'self-signed-certificate'));

  test('9.1 certificate of an unknown authority: an error is raised and no request is sent', () =>
    assertNotSent(certificates().unknownAuthority, 'untrusted-certificate'));

  test('9.1 certificate of another host: an error is raised and no request is sent', () =>
    assertNotSent(certificates().misnamed, 'misnamed-certificate'));

  test('9.1 connection reset: retried', async () => {
    await using receiver = await startReceiver({
      answer: answers.sequence(answers.reset, answers.status(200)),
    });
    await delivered(await sendTo(receiver.url));
    assert.equal(receiver.requests.length, 2);
    assertRetried(receiver);
  });

  for (const code of [400, 401, 403, 404, 405, 410, 413, 422, 451]) {
    test(`9.1 response status 4xx: ${code} is not retried, the event becomes a dead letter`, async () => {
      await using receiver = await startReceiver({ answer: () => answers.status(code, {}, 'no') });
      const { destinationId } = await sendTo(receiver.url);
      const letter = await pipeline.deadLetter(destinationId);
      assert.equal(letter.reason, 'client-error');
      assert.equal(letter.attempt, 1);
      assert.match(letter.lastAnswer ?? '', new RegExp(String(code)));
      assert.equal(receiver.requests.length, 1);
      assert.deepEqual(letter.body, receiver.requests[0]?.body);
    });
  }

  test('9.1 response status 408: retried', async () => {
    await using receiver = await startReceiver({
      answer: answers.sequence(answers.status(408), answers.status(200)),
    });
    await delivered(await sendTo(receiver.url));
    assert.equal(receiver.requests.length, 2);
    assertRetried(receiver);
  });

  test('10.5 response status 429: retried no sooner than Retry-After requires', async () => {
    const date = new Date(Date.now() + 2_000).toUTCString();
    const retryOf = async (retryAfter: string): Promise<AttemptRecord> => {
      await using receiver = await startReceiver({
        answer: answers.sequence(answers.tooManyRequests(retryAfter), answers.status(200)),
      });
      const connection = await sendTo(receiver.url);
      await delivered(connection);
      assert.equal(receiver.requests.length, 2);
      return await pipeline.attempt(connection.destinationId, 'retry');
    };
    const [inSeconds, byDate] = await Promise.all([retryOf('2'), retryOf(date)]);
    const dueAt = ({ nextDueAt = '' }: AttemptRecord): number => Date.parse(nextDueAt);
    assert.ok(dueAt(inSeconds) >= Date.parse(inSeconds.startedAt) + 2_000);
    assert.ok(dueAt(byDate) >= Date.parse(date));
  });

  for (const code of [301, 302, 303, 307, 308] as const) {
    test(`7.6 response status 3xx: ${code} is not followed, the event becomes a dead letter`, async () => {
      await using target = await startReceiver();
      await using receiver = await startReceiver({ answer: () => answers.redirect(code, target.url) });
      const { destinationId } = await sendTo(receiver.url);
      const letter = await pipeline.deadLetter(destinationId);
      assert.equal(letter.reason, 'redirect');
      assert.equal(receiver.requests.length, 1);
      assert.equal(target.requests.length + target.connections.items.length, 0);
    });
  }

  test('9.4 several URLs that all fail permanently: the event becomes a dead letter immediately', async () => {
    await using gone = await startReceiver({ answer: () => answers.status(410) });
    await using moved = await startReceiver({ answer: () => answers.redirect(302, gone.url) });
    const { destinationId } = await sendTo(gone.url, moved.url);
    assert.equal((await pipeline.deadLetter(destinationId)).attempt, 1);
    assert.deepEqual([gone.requests.length, moved.requests.length], [1, 1]);
  });

  test('1.2 a call that lacks both userId and anonymousId is invalid', async () => {
    const { post } = await pipeline.connect({ webhooks: [{ url: 'https://hooks.example' }] });
    for (const type of ['identify', 'track', 'group']) {
      const response = await post(type, { event: 'Signed Up', groupId: 'acme' });
      assert.equal(response.status, 400);
      const { code, message } = (await response.json()) as { code: string; message: string };
      assert.equal(code, 'invalid-call');
      assert.match(message, /userId or anonymousId/);
    }
  });

  test('1.3 a track call that lacks an event name is invalid', async () => {
    const { post } = await pipeline.connect({ webhooks: [{ url: 'https://hooks.example' }] });
    const response = await post('track', { userId: 'ada' });
    assert.equal(response.status, 400);
    const { code, message } = (await response.json()) as { code: string; message: string };
    assert.equal(code, 'invalid-call');
    assert.match(message, /event/);
  });
});

describe('a delivery is retried until it arrives', { concurrency: true }, () => {
  let stage: DeliveryStage;
  let log: Collected<LogLine>;
  before(async () => {
    // An exchange that is too slow, on a busy machine too, only takes one more of many attempts.
    const scheduleMs = Array<number>(50).fill(1_000);
    stage = await openDeliveryStage({ scheduleMs, env: { TAILRACE_DELIVERY_TIMEOUT: '1s' } });
    log = collect<LogLine>('the log of delivery', (line) => JSON.stringify(line));
    await stage.startHere({ onLine: log.add });
  });
  after(() => stage[Symbol.asyncDispose]());

  /** Sends a delivery to a destination with this URL. */
  async function deliverTo(url: string) {
    const settings = { webhooks: [{ url }], tls: { ca: certificates().authority } };
    const destination = destinationOf(url, url.startsWith('https:') ? { settings } : {});
    await stage.configure(destination);
    await stage.publish([newDelivery(destination.id)]);
    const records = await stage.watch(stage.names.attempts);
    const read = ({ value }: { readonly value: Buffer | null }) => JSON.parse(String(value)) as AttemptRecord;
    return {
      destinationId: destination.id,
      /** The first record of an attempt with this outcome. */
      attempt: async (outcome: AttemptRecord['outcome']): Promise<AttemptRecord> =>
        read(
          await records.find((record) => {
            const attempt = read(record);
            return attempt.destinationId === destination.id && attempt.outcome === outcome;
          }),
        ),
    };
  }

  for (const [title, answer] of [
    ['9.1 no response in time: a timeout error is logged, and the event is retried later', answers.never],
    [
      '7.3 no response in time: headers after the timeout are too late',
      answers.delayed(1_500, answers.status(200)),
    ],
  ] as const) {
    test(title, async () => {
      await using receiver = await startReceiver({ answer: answers.sequence(answer, answers.status(200)) });
      const { attempt, destinationId } = await deliverTo(receiver.url);
      const { urls } = await attempt('retry');
      assert.equal(urls[0]?.reason, 'timeout');
      await log.find(
        (line) => line['destinationId'] === destinationId && JSON.stringify(line).includes('timeout'),
      );
      assert.equal((await attempt('delivered')).urls[0]?.status, 200);
      assertRetried(receiver);
    });
  }

  test('9.1 expired certificate: no request is sent, and the event waits for its renewal', async () => {
    await using receiver = await startReceiver({ tls: certificates().expired });
    const { attempt } = await deliverTo(receiver.url);
    await attempt('retry');
    assert.equal(receiver.requests.length, 0);
    assert.ok(receiver.connections.items.length > 0, 'it was tried');
    receiver.renew(certificates().trusted);
    await attempt('delivered');
    assertRetried(receiver);
  });

  test('9.1 connection refused: retried, and delivered once the receiver listens', async () => {
    using closed = await closedAddress();
    const { attempt } = await deliverTo(`${closed.url}/hook`);
    const { urls } = await attempt('retry');
    assert.equal(urls[0]?.reason, 'connection-refused');
    await using receiver = await startReceiver(closed);
    await attempt('delivered');
    assertRetried(receiver);
  });
});
