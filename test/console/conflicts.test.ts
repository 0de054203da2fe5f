/** Two people, with a browser session and a token each, change one destination at the same time. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Page } from 'playwright-core';
import { settled, told, visit, type OpenedPage } from '../support/console/browser.ts';
import { openConsole } from '../support/console/console.ts';

const started = new AsyncDisposableStack();
const { browser, control, url } = started.use(await openConsole());
const [ada, bob] = await Promise.all([open('Ada'), open('Bob')]);

async function open(name: string): Promise<OpenedPage> {
  const body = { name, scope: 'write' };
  const { token } = await control.expect(201, { method: 'POST', path: '/v1/tokens', body });
  return browser.open(url, { token: String(token) });
}

after(async () => {
  for (const { complaints } of [ada, bob]) {
    // Chromium reports each refused request.
    assert.deepEqual(
      complaints.filter((complaint) => !/status of 4(04|12)/.test(complaint)),
      [],
    );
  }
  await started.disposeAsync();
});

/** A new destination, open in both browsers. */
async function openBoth(id: string, tab: string): Promise<void> {
  const settings = { webhooks: [{ url: 'https://crm.example.com/hook' }] };
  const body = { id, type: 'Webhooks', enabled: true, sources: [], settings };
  await control.expect(201, { method: 'POST', path: '/v1/destinations', body });
  await Promise.all([ada, bob].map(({ page }) => visit(page, `#/destinations/${id}?tab=${tab}`, id)));
}

function press(page: Page, name: string): Promise<void> {
  return page.getByRole('button', { name, exact: true }).click();
}

/** Resolves with the status of the answer when it is shown. "Saved." may be there from another change. */
async function save(page: Page): Promise<number> {
  const answered = page.waitForResponse((answer) => answer.request().method() === 'PATCH');
  await press(page, 'Save');
  const status = (await answered).status();
  await settled(page);
  return status;
}

const heading = 'Someone else changed this destination';

test('of two who save in the same moment one chooses between both values', async () => {
  await openBoth('race', 'settings');
  await ada.page.getByLabel('Max requests per second').fill('10');
  await ada.page.getByLabel('Name', { exact: true }).fill("Ada's");
  await bob.page.getByLabel('Max requests per second').fill('20');
  const answers = await Promise.all([save(ada.page), save(bob.page)]);
  assert.deepEqual(answers.toSorted(), [200, 412]);
  const second = answers[0] === 200 ? bob : ada;
  await second.page.getByRole('heading', { name: heading }).waitFor();
  const [mine, theirs] = second === ada ? ['10', '20'] : ['20', '10'];
  await second.page.getByRole('radio', { name: new RegExp(`Yours\\s*${mine}`) }).waitFor();
  await second.page.getByRole('radio', { name: new RegExp(`Theirs\\s*${theirs}`) }).check();
  await press(second.page, 'Save selected values');
  await told(second.page, 'Saved.');
  const { name, rateLimit } = await control.expect(200, { path: '/v1/destinations/race' });
  assert.deepEqual({ name, rateLimit }, { name: "Ada's", rateLimit: Number(theirs) });
});

test('a third change during the choice is not overwritten either', async () => {
  await openBoth('thrice', 'settings');
  await ada.page.getByLabel('Max requests per second').fill('10');
  await bob.page.getByLabel('Max requests per second').fill('20');
  assert.equal(await save(bob.page), 200);
  await press(ada.page, 'Save');
  await ada.page.getByRole('radio', { name: /Theirs\s*20/ }).waitFor();
  await bob.page.getByLabel('Max requests per second').fill('30');
  assert.equal(await save(bob.page), 200);
  await ada.page.getByRole('radio', { name: /Yours\s*10/ }).check();
  await press(ada.page, 'Save selected values');
  await ada.page.getByRole('radio', { name: /Theirs\s*30/ }).waitFor();
  await press(ada.page, 'Discard my changes');
  assert.equal(await ada.page.getByLabel('Max requests per second').inputValue(), '30');
  const { rateLimit } = await control.expect(200, { path: '/v1/destinations/thrice' });
  assert.equal(rateLimit, 30);
});

test('a filter and a setting that two people change meet without a choice', async () => {
  await openBoth('apart', 'filter');
  await bob.page.getByRole('link', { name: 'Settings' }).click();
  await bob.page.getByLabel('Name', { exact: true }).fill("Bob's");
  assert.equal(await save(bob.page), 200);
  await ada.page.getByLabel('Only these events').fill('Order *');
  await press(ada.page, 'Save filter');
  await ada.page.getByText('The changes do not conflict').waitFor();
  await press(ada.page, 'Save');
  await ada.page.getByRole('heading', { level: 1, name: "Bob's" }).waitFor();
  const { name, filter } = await control.expect(200, { path: '/v1/destinations/apart' });
  assert.deepEqual({ name, filter }, { name: "Bob's", filter: { events: { include: ['Order *'] } } });
});

for (const [id, button, answer, state] of [
  ['off', 'Disable', 'Disable', 'disabled'],
  ['still', 'Pause', undefined, 'paused'],
] as const) {
  test(`a change to a destination that somebody has ${state} keeps it ${state} and shows it`, async () => {
    await openBoth(id, 'settings');
    await ada.page.getByLabel('Name', { exact: true }).fill('Renamed');
    await press(bob.page, button);
    if (answer !== undefined)
      await bob.page.getByRole('dialog').getByRole('button', { name: answer }).click();
    await bob.page.getByText(state, { exact: true }).first().waitFor();
    await press(ada.page, 'Save');
    await ada.page.getByRole('heading', { name: heading }).waitFor();
    await press(ada.page, 'Save');
    await ada.page.getByRole('heading', { level: 1, name: 'Renamed' }).waitFor();
    await ada.page.getByText(state, { exact: true }).first().waitFor();
    const { name, enabled, paused } = await control.expect(200, { path: `/v1/destinations/${id}` });
    assert.deepEqual([name, enabled, paused ?? false], ['Renamed', state !== 'disabled', state === 'paused']);
  });
}

test('a change to a destination that somebody has deleted is refused, and what was typed stays', async () => {
  await openBoth('gone', 'settings');
  await ada.page.getByLabel('Name', { exact: true }).fill('Typed');
  await press(bob.page, 'Delete destination');
  await bob.page.getByRole('dialog').getByRole('button', { name: 'Delete destination' }).click();
  await bob.page.getByRole('heading', { level: 1, name: 'Destinations' }).waitFor();
  await press(ada.page, 'Save');
  await ada.page.getByRole('alert').getByText('Not found.').waitFor();
  assert.equal(await ada.page.getByLabel('Name', { exact: true }).inputValue(), 'Typed');
  // An action that needs no form says so too.
  await press(ada.page, 'Pause');
  await ada.page.locator('.toast.bad').waitFor();
});

test('an own action beside a form keeps what was typed', async () => {
  await openBoth('own', 'settings');
  await ada.page.getByLabel('Name', { exact: true }).fill('Typed');
  await press(ada.page, 'Pause');
  await ada.page.getByRole('button', { name: 'Resume' }).waitFor();
  assert.equal(await ada.page.getByLabel('Name', { exact: true }).inputValue(), 'Typed');
  await press(ada.page, 'Save');
  await ada.page.getByRole('heading', { level: 1, name: 'Typed' }).waitFor();
  const { name, paused } = await control.expect(200, { path: '/v1/destinations/own' });
  assert.deepEqual([name, paused], ['Typed', true]);
});
