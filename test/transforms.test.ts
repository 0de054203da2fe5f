/** The examples of transforms, each run in the sandbox of the router on the events that it is for. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { after, test } from 'node:test';
import { transformProblem } from '@tailrace/config';
import { Transforms } from '@tailrace/transform';

const folder = path.join(import.meta.dirname, '../examples/transforms');
const transforms = new Transforms({ threads: 1 });
after(() => transforms.close());

const timestamp = '2026-11-21T09:43:25.118Z';

/** The result: a body with headers and URL, or undefined where the event is filtered. */
async function run(name: string, event: object) {
  const result = await transforms.run({
    owner: name,
    code: readFileSync(path.join(folder, `${name}.js`), 'utf8'),
    event: JSON.stringify(event),
  });
  if (result.outcome === 'filtered') return undefined;
  assert.ok(result.outcome === 'body', JSON.stringify(result));
  const { body, headers, url } = result;
  return { body: JSON.parse(body) as unknown, headers, url };
}

async function bodyOf(name: string, event: object): Promise<unknown> {
  return (await run(name, event))?.body;
}

const track = (event: string, properties: object) => ({
  version: 1,
  type: 'track',
  userId: 'ada',
  timestamp,
  event,
  properties,
});
const operational = (event: string, properties: object) => {
  const { userId: _, ...rest } = track(event, { destinationId: 'crm', ...properties });
  return { ...rest, anonymousId: 'tailrace' };
};
const failing = operational('destination.failing', { reason: 'timeout', failedAttempts: 9 });
const recovered = operational('destination.recovered', { recoveredAt: timestamp });
const changed = operational('config.changed', {});
const order = track('Order Completed', {
  order_id: 'o-1',
  total: 1200.5,
  currency: 'EUR',
  coupon: 'SPRING',
  products: [{ sku: 'p-1', name: 'Lamp', price: 600.25, quantity: 2, color: 'red' }],
});
const identify = (traits: object) => ({ version: 1, type: 'identify', userId: 'ada', timestamp, traits });
const deletion = { type: 'delete', userId: 'ada', timestamp };

const tests: Readonly<Record<string, () => Promise<void>>> = {
  async slack() {
    const text = ':red_circle: crm is failing: timeout';
    assert.deepEqual(await bodyOf('slack', failing), {
      text,
      blocks: [
        { type: 'section', text: { type: 'mrkdwn', text } },
        { type: 'context', elements: [{ type: 'mrkdwn', text: `\`destination.failing\` at ${timestamp}` }] },
      ],
    });
    assert.equal(await run('slack', changed), undefined);
  },

  async pagerduty() {
    const alert = { routing_key: 'REPLACE-WITH-YOUR-INTEGRATION-KEY', dedup_key: 'tailrace/crm' };
    assert.deepEqual(await bodyOf('pagerduty', failing), {
      ...alert,
      event_action: 'trigger',
      payload: {
        summary: 'Webhooks to crm are failing: timeout',
        source: 'tailrace',
        severity: 'error',
        component: 'crm',
        timestamp,
        custom_details: { reason: 'timeout', failedAttempts: 9 },
      },
    });
    assert.deepEqual(await bodyOf('pagerduty', recovered), { ...alert, event_action: 'resolve' });
    assert.equal(await run('pagerduty', changed), undefined);
  },

  async flatten() {
    const event = track('Signed Up', { 'Plan Name': 'pro', cart: { total: 1, tags: ['a'] }, none: null });
    assert.deepEqual(await bodyOf('flatten', event), {
      version: 1,
      type: 'track',
      user_id: 'ada',
      timestamp,
      event: 'Signed Up',
      properties_plan_name: 'pro',
      properties_cart_total: 1,
      properties_cart_tags: '["a"]',
      properties_none: null,
    });
  },

  async hubspot() {
    const traits = { email: ' Ada@Example.com', firstName: 'Ada', company: { name: 'Engines' } };
    const email = 'ada@example.com';
    const properties = { email, firstname: 'Ada', company: 'Engines', external_id: 'ada' };
    assert.deepEqual(await bodyOf('hubspot', identify(traits)), {
      inputs: [{ idProperty: 'email', id: email, properties }],
    });
    for (const other of [identify({}), order, deletion]) {
      assert.equal(await run('hubspot', other), undefined);
    }
  },

  async cloudevents() {
    const alias = { version: 1, type: 'alias', 'Previous ID': 'a', 'User ID': 'Ädä', timestamp };
    for (const [event, subject] of [
      [order, 'ada'],
      [deletion, 'ada'],
      [alias, '%C3%84d%C3%A4'],
    ] as const) {
      const made = await run('cloudevents', event);
      assert.ok(made?.headers);
      // As delivery sends it, with `deliveryIdHeader: ce-id`.
      const headers = { ...made.headers, 'ce-id': 'd-1', 'content-type': 'application/json' };
      // Binary content mode of the HTTP binding 1.0: attributes in `ce-` headers, of which four are required.
      assert.deepEqual(headers, {
        'ce-specversion': '1.0',
        'ce-id': 'd-1',
        'ce-type': `com.example.${event.type}`,
        'ce-source': '/tailrace',
        'ce-time': timestamp,
        'ce-subject': subject,
        'content-type': 'application/json',
      });
      assert.deepEqual(made.body, event);
    }
  },

  async ga4() {
    assert.deepEqual(await bodyOf('ga4', order), {
      client_id: 'ada',
      user_id: 'ada',
      timestamp_micros: Date.parse(timestamp) * 1_000,
      events: [
        {
          name: 'purchase',
          params: {
            coupon: 'SPRING',
            transaction_id: 'o-1',
            value: 1200.5,
            currency: 'EUR',
            items: [{ item_id: 'p-1', item_name: 'Lamp', price: 600.25, quantity: 2 }],
          },
        },
      ],
    });
    const { events } = (await bodyOf('ga4', track('Newsletter Opened!', {}))) as { events: object[] };
    assert.deepEqual(events, [{ name: 'newsletter_opened_', params: { items: [] } }]);
    assert.equal(await run('ga4', deletion), undefined);
  },

  async braze() {
    const user = { external_id: 'ada' };
    const purchase = { product_id: 'p-1', currency: 'EUR', price: 600.25, quantity: 2, time: timestamp };
    assert.deepEqual(await bodyOf('braze', order), { purchases: [{ ...user, ...purchase }] });
    assert.deepEqual(await bodyOf('braze', track('Signed Up', { plan: 'pro' })), {
      events: [{ ...user, name: 'Signed Up', time: timestamp, properties: { plan: 'pro' } }],
    });
    assert.deepEqual(await bodyOf('braze', identify({ firstName: 'Ada', city: 'London' })), {
      attributes: [{ ...user, first_name: 'Ada', city: 'London' }],
    });
    for (const other of [failing, deletion]) assert.equal(await run('braze', other), undefined);
  },

  async teams() {
    const card = (await bodyOf('teams', order)) as {
      attachments: [{ contentType: string; content: { body: [object, { facts: object[] }] } }];
    };
    const [{ contentType, content }] = card.attachments;
    assert.equal(contentType, 'application/vnd.microsoft.card.adaptive');
    assert.deepEqual(content.body[0], { type: 'TextBlock', size: 'Large', text: 'Order of 1200.5 EUR' });
    assert.deepEqual(content.body[1].facts, [
      { title: 'Order', value: 'o-1' },
      { title: 'Customer', value: 'ada' },
      { title: 'Products', value: '1' },
    ]);
    for (const other of [track('Order Completed', { total: 1 }), deletion]) {
      assert.equal(await run('teams', other), undefined);
    }
  },

  async region() {
    const at = (country: string) => ({ ...order, context: { location: { country } } });
    assert.deepEqual((await run('region', at('FR')))?.url, 1);
    assert.deepEqual((await run('region', identify({ country: 'US' })))?.url, 0);
    const deleted = await run('region', deletion);
    assert.deepEqual([deleted?.url, deleted?.body], [0, deletion]);
  },

  async scrub() {
    const typed = {
      text: 'I am ada@example.com, card 4111 1111-1111 1111, order 12345',
      lines: ['a@b.co'],
      n: 1,
    };
    assert.deepEqual(await bodyOf('scrub', track('Asked', typed)), {
      ...track('Asked', { text: 'I am [e-mail], card [card], order 12345', lines: ['[e-mail]'], n: 1 }),
    });
    assert.deepEqual(await bodyOf('scrub', deletion), deletion);
  },
};

test('there is a test of each example of a transform, and each begins with what it does', () => {
  const names = readdirSync(folder).flatMap((file) => (file.endsWith('.js') ? [file.slice(0, -3)] : []));
  assert.deepEqual(names, Object.keys(tests).sort());
  for (const name of names) {
    const code = readFileSync(path.join(folder, `${name}.js`), 'utf8');
    assert.match(code, /^\/\/ [A-Z]/, name);
    assert.equal(transformProblem(code), undefined, name);
  }
});

for (const [name, check] of Object.entries(tests)) {
  test(`the transform ${name} makes what its receiver expects`, check);
}
