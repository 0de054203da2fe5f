/** Environment variables that change how Node connects must not weaken the checks of a webhook's receiver. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { test } from 'node:test';
import { certificates } from '../support/receivers/certificates.ts';
import { destinationOf, newDelivery, openDeliveryStage } from '../support/processes/delivery.ts';
import { startReceiver } from '../support/receivers/receiver.ts';

const scheduleMs = [1_000];

test('no request is sent to a self-signed receiver if NODE_TLS_REJECT_UNAUTHORIZED is 0', async () => {
  const { selfSigned, unknownAuthority, misnamed } = certificates();
  await using stage = await openDeliveryStage({ scheduleMs });
  await stage.startReplica({ NODE_TLS_REJECT_UNAUTHORIZED: '0', NODE_OPTIONS: '--tls-min-v1.0' });
  for (const tls of [selfSigned, unknownAuthority, misnamed]) {
    await using receiver = await startReceiver({ tls });
    // A destination with TLS settings has its own connections.
    const { webhooks } = destinationOf([receiver.url]).settings;
    const settings = { webhooks, tls: { ca: certificates().stranger } };
    const destinations = [destinationOf([receiver.url])];
    if (tls !== unknownAuthority) destinations.push(destinationOf([], { settings }));
    await stage.configure(...destinations);
    for (const { id } of destinations) {
      const delivery = newDelivery(id);
      await stage.publish(delivery);
      assert.match((await stage.deadLetterOf(delivery)).reason ?? '', /^(self-signed|untrusted|misnamed)-/);
    }
    assert.equal(receiver.requests.length, 0);
    assert.equal(receiver.connections.items.length, destinations.length);
  }
});

test('a proxy from the environment is not used, because it could connect to an address that was not checked', async () => {
  let dialled = 0;
  await using proxy = createServer((socket) => {
    dialled += 1;
    socket.destroy();
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  await using stage = await openDeliveryStage({ scheduleMs });
  await stage.startReplica({
    ...{ NODE_USE_ENV_PROXY: '1', HTTP_PROXY: url, HTTPS_PROXY: url, ALL_PROXY: url },
    ...{ http_proxy: url, https_proxy: url, all_proxy: url },
  });
  await using plain = await startReceiver();
  await using secure = await startReceiver({ tls: certificates().trusted });
  const { webhooks } = destinationOf([secure.url]).settings;
  const settings = { webhooks, tls: { ca: certificates().authority } };
  const destinations = [destinationOf([plain.url]), destinationOf([], { settings })];
  await stage.configure(...destinations);
  for (const { id } of destinations) await stage.publish(newDelivery(id));
  await Promise.all([plain.waitFor(1), secure.waitFor(1)]);
  assert.equal(dialled, 0);
});
