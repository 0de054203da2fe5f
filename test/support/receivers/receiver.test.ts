import assert from 'node:assert/strict';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent, request as httpsRequest } from 'node:https';
import { once } from 'node:events';
import { buffer } from 'node:stream/consumers';
import test from 'node:test';
import * as answers from './answers.ts';
import { certificates, type Certificate } from './certificates.ts';
import { closedPort, startReceiver } from './receiver.ts';

async function post(
  url: string,
  body: string,
  headers: Record<string, string> = {},
): Promise<IncomingMessage> {
  const request = httpRequest(url, { method: 'POST', headers, agent: false });
  request.end(body);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  return response;
}

async function postSecurely(url: string): Promise<number | undefined> {
  const agent = new Agent({ ca: certificates().authority });
  const request = httpsRequest(url, { method: 'POST', agent });
  request.end('{}');
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  response.resume();
  agent.destroy();
  return response.statusCode;
}

test('requests are recorded with their exact header names, order and bytes', async () => {
  await using receiver = await startReceiver();
  await post(`${receiver.url}/hook?a=1`, '{"ü":1}', { 'X-Team': 'growth', 'x-lower': 'b' });
  const [received] = await receiver.waitFor(1);
  assert.equal(received?.method, 'POST');
  assert.equal(received.path, '/hook?a=1');
  assert.deepEqual(received.rawHeaders.slice(0, 2), [
    ['X-Team', 'growth'],
    ['x-lower', 'b'],
  ]);
  assert.equal(received.headers['x-team'], 'growth');
  assert.deepEqual(received.body, Buffer.from('{"ü":1}'));
  assert.deepEqual(received.json(), { ü: 1 });
});

test('the nth request gets the nth answer, and the last answer is used for the rest', async () => {
  const answer = answers.sequence(answers.status(500), answers.tooManyRequests('3'), answers.status(204));
  await using receiver = await startReceiver({ answer });
  const codes: unknown[] = [];
  for (let nth = 1; nth <= 4; nth++) codes.push((await post(receiver.url, '{}')).statusCode);
  assert.deepEqual(codes, [500, 429, 204, 204]);
});

test('a receiver can reset the connection, hold it, or refuse it', async () => {
  await using resetting = await startReceiver({ answer: () => answers.reset });
  await assert.rejects(post(resetting.url, '{}'), { code: 'ECONNRESET' });
  assert.equal(resetting.requests.length, 1);

  await using silent = await startReceiver({ answer: () => answers.never });
  const held = post(silent.url, '{}');
  await silent.waitFor(1);
  await silent.close();
  await assert.rejects(held, { code: 'ECONNRESET' });

  await assert.rejects(post(`http://127.0.0.1:${await closedPort()}`, '{}'), { code: 'ECONNREFUSED' });
});

test('a receiver can answer late, at length, and byte by byte', async () => {
  const answer = answers.sequence(
    answers.delayed(20, answers.redirect(307, '/elsewhere')),
    answers.hugeBody(200, 1_000_000),
    answers.hugeHeaders(200, 10_000),
    answers.trickle(200, 1),
  );
  await using receiver = await startReceiver({ answer });
  const late = await post(receiver.url, '{}');
  assert.deepEqual([late.statusCode, late.headers.location], [307, '/elsewhere']);
  assert.equal((await buffer(await post(receiver.url, '{}'))).length, 1_000_000);
  assert.ok(JSON.stringify((await post(receiver.url, '{}')).headers).length > 10_000);
  const trickling = await post(receiver.url, '{}');
  await once(trickling, 'data');
  assert.equal(trickling.complete, false);
  trickling.destroy();
});

test('a kept-alive connection can be closed without notice after an answer', async () => {
  await using receiver = await startReceiver({ answer: () => answers.thenClose(answers.status(200)) });
  const response = await post(receiver.url, '{}', { connection: 'keep-alive' });
  assert.equal(response.headers.connection, 'keep-alive');
  response.resume();
  await once(response.socket, 'close');
});

test('only the certificate of the known authority, in time and of the right name, is trusted', async () => {
  const made = certificates();
  const outcome = async (tls: Certificate, host = '127.0.0.1'): Promise<unknown> => {
    await using receiver = await startReceiver({ tls });
    const result = await postSecurely(`https://${host}:${receiver.port}`).catch(
      (error: unknown) => (error as NodeJS.ErrnoException).code,
    );
    assert.equal(receiver.requests.length, result === 200 ? 1 : 0);
    return result;
  };
  assert.equal(await outcome(made.trusted), 200);
  assert.equal(await outcome(made.trusted, 'localhost'), 200);
  assert.equal(await outcome(made.selfSigned), 'DEPTH_ZERO_SELF_SIGNED_CERT');
  assert.equal(await outcome(made.expired), 'CERT_HAS_EXPIRED');
  assert.equal(await outcome(made.misnamed), 'ERR_TLS_CERT_ALTNAME_INVALID');
  assert.equal(await outcome(made.unknownAuthority), 'UNABLE_TO_VERIFY_LEAF_SIGNATURE');
});
