/** `addIp` of a source: the address of the sender as `context.ip`, over real connections. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { assertAccepted, call, sendTo, type Sent } from './testing/client.ts';
import { openStage, type Stage } from './testing/stage.ts';

const sources = [
  { id: 'web', writeKeys: ['wk_web'], enabled: true, addIp: true },
  { id: 'off', writeKeys: ['wk_off'], enabled: true },
];

describe('ingest', () => {
  let stage: Stage;
  before(async () => {
    stage = await openStage({ sources });
  });
  after(() => stage[Symbol.asyncDispose]());

  /** The record of the event with this messageId, as text. */
  async function textOf(messageId: string): Promise<string> {
    const { value } = await stage.events.find(({ value }) => value?.includes(messageId) ?? false);
    return value?.toString() ?? '';
  }

  async function contextOf({ messageId }: { readonly messageId: string }): Promise<unknown> {
    return (JSON.parse(await textOf(messageId)) as Record<string, unknown>)['context'];
  }

  const send = async (sent: Omit<Sent, 'url'>, url = stage.url): Promise<void> => {
    assertAccepted(await sendTo({ url, ...sent }));
  };

  test('14.10 the address of the sender becomes context.ip of each call of a source with addIp, and of no other', async () => {
    const [bare, given] = [call(), call({ context: { locale: 'de' } })];
    await send({ path: '/v1/t', body: bare });
    await send({ path: '/v1/track', body: given });
    // Ingest listens on IPv6 too, where the connection comes from ::ffff:127.0.0.1.
    assert.deepEqual(await contextOf(bare), { ip: '127.0.0.1' });
    assert.deepEqual(await contextOf(given), { ip: '127.0.0.1', locale: 'de' });

    const seen = call({ writeKey: 'wk_web' });
    const data = Buffer.from(JSON.stringify(seen)).toString('base64url');
    const url = `/v1/pixel/track?data=${data}`;
    assert.equal((await sendTo({ url: stage.url, path: url, method: 'GET', key: null })).status, 200);
    assert.deepEqual(await contextOf(seen), { ip: '127.0.0.1' });

    const without = call({ context: { locale: 'de' } });
    await send({ path: '/v1/track', key: 'wk_off', body: without });
    assert.deepEqual(await contextOf(without), { locale: 'de' });
  });

  test('14.10 the ip of a call or of its batch is kept, whatever its value', async () => {
    const ip = '198.51.100.9';
    for (const context of [{ ip }, { ip: null }, { ip: '' }]) {
      const body = call({ context });
      await send({ path: '/v1/track', body });
      assert.deepEqual(await contextOf(body), context);
    }
    const batch = [call(), call({ context: { own: 1 } }), call({ context: { ip } })];
    const [bare, own, kept] = batch as [(typeof batch)[0], (typeof batch)[0], (typeof batch)[0]];
    await send({ path: '/v1/batch', body: { batch, context: { shared: 2 } } });
    assert.deepEqual(await contextOf(bare), { ip: '127.0.0.1', shared: 2 });
    assert.deepEqual(await contextOf(own), { ip: '127.0.0.1', shared: 2, own: 1 });
    assert.deepEqual(await contextOf(kept), { ip, shared: 2 });

    const shared = call();
    await send({ path: '/v1/batch', body: { batch: [shared], context: { ip } } });
    assert.deepEqual(await contextOf(shared), { ip });
  });

  test('14.10 the address comes from X-Forwarded-For behind a trusted proxy only, and nothing else of it is stored', async () => {
    await using behind = await stage.start({ TAILRACE_TRUSTED_PROXIES: '127.0.0.0/8,10.0.0.0/8' });
    const chains: [forwarded: string, ip: string | undefined][] = [
      ['203.0.113.7', '203.0.113.7'],
      ['6.6.6.6, 203.0.113.7:4711, 10.0.0.2', '203.0.113.7'],
      ['::ffff:203.0.113.7', '203.0.113.7'],
      ['[2001:DB8::7]:4711', '2001:db8::7'],
      ['6.6.6.6, "}]', undefined],
      [`6.6.6.6, ${'x'.repeat(8_000)}, 10.0.0.2`, undefined],
    ];
    for (const [forwarded, ip] of chains) {
      const headers = { 'x-forwarded-for': forwarded };
      const [trusted, direct] = [call(), call()];
      await send({ path: '/v1/track', body: trusted, headers }, behind.url);
      assert.deepEqual(await contextOf(trusted), ip === undefined ? undefined : { ip });
      assert.doesNotMatch(await textOf(trusted.messageId), /6\.6\.6\.6|:4711|xxx/);
      await send({ path: '/v1/track', body: direct, headers });
      assert.deepEqual(await contextOf(direct), { ip: '127.0.0.1' });
    }
  });

  test('2.14 calls of the largest size are accepted with the address', async () => {
    const padded = (more: (padding: string) => object): string => {
      const empty = JSON.stringify(more('')).length;
      return JSON.stringify(more('x'.repeat(32 * 1024 - empty)));
    };
    for (const more of [
      (text: string) => ({
        type: 'track',
        userId: 'ada',
        event: 'e',
        messageId: 'full-1',
        properties: { text },
      }),
      (text: string) => ({
        type: 'identify',
        userId: 'ada',
        messageId: 'full-2',
        context: { traits: { text } },
      }),
    ]) {
      const bytes = padded(more);
      const { type, messageId } = more('');
      await send({ path: `/v1/${type}`, bytes });
      assert.equal(((await contextOf({ messageId })) as { ip?: unknown }).ip, '127.0.0.1');
    }
  });
});
