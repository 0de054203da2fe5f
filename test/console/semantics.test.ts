/** The parts of a page that screen readers use, beyond the rules of axe: landmarks, headings, titles, announcements, tables, charts, focus. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { adminToken } from '../../services/control/src/testing/api.ts';
import { goTo, settled, told, visit } from '../support/console/browser.ts';
import { eventually } from '@tailrace/testing';
import { openConsole } from '../support/console/console.ts';
import { seed } from '../support/console/history.ts';

const started = new AsyncDisposableStack();
after(() => started.disposeAsync());
const { browser, control, url } = started.use(
  await openConsole((control) => seed(control, { delivered: 20 })),
);
await control.expect(201, { method: 'POST', path: '/v1/tokens', body: { name: 'Grafana', scope: 'read' } });
await control.expect(200, { method: 'PUT', path: '/v1/sources/web/blocked-events/Noise' });
await control.expect(200, { method: 'POST', path: '/v1/suppressions', body: { userIds: ['u-1'] } });
const { page } = await browser.open(url, { token: adminToken });

const dead = '00000000-0000-4000-8000-000000000021';
/** Each page with its heading, also pages about something that does not exist. */
const places: readonly (readonly [place: string, heading: string])[] = [
  ['#/', 'Overview'],
  ['#/deliveries', 'Deliveries'],
  [`#/deliveries/${dead}`, 'Order Completed'],
  ['#/deliveries/00000000-0000-4000-8000-00000000ffff', 'Delivery'],
  ['#/why', 'Why'],
  ['#/why/event-filtered', 'Why'],
  ['#/issues', 'Issues'],
  ['#/replays', 'Dead letters'],
  ['#/sources', 'Sources'],
  ['#/sources/web', 'Website'],
  ['#/sources/web?tab=events', 'Website'],
  ['#/sources/web?tab=usage', 'Website'],
  ['#/sources/web?tab=settings', 'Website'],
  ['#/sources/missing', 'missing'],
  ['#/sources/+new', 'Create a source'],
  ['#/destinations', 'Destinations'],
  ['#/destinations/crm', 'Customer database'],
  ['#/destinations/erp?tab=failures', 'Orders'],
  ['#/destinations/crm?tab=test', 'Customer database'],
  ['#/destinations/crm?tab=filter', 'Customer database'],
  ['#/destinations/crm?tab=settings', 'Customer database'],
  ['#/destinations/missing', 'missing'],
  ['#/destinations/+new', 'Create a destination'],
  ['#/audiences/web', 'Audiences'],
  ['#/deletions', 'Deletions'],
  ['#/deletions/missing', 'missing'],
  ['#/suppressions', 'Suppressions'],
  ['#/tokens', 'Tokens'],
  ['#/audit', 'Audit'],
  ['#/no-such-page', 'Page not found'],
];

/** What is wrong in the page, as sentences. */
const findProblems = `(() => {
  const problems = [];
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  for (const landmark of ['main', 'nav[aria-label="Menu"]', 'header.top', 'h1']) {
    const { length } = all(landmark);
    if (length !== 1) problems.push(length + ' of ' + landmark);
  }
  const h1 = document.querySelector('h1')?.textContent ?? '';
  if (document.title !== h1 + ' · Tailrace') problems.push('the title is ' + document.title);
  let level = 1;
  for (const heading of all('main :is(h1, h2, h3, h4)')) {
    const next = Number(heading.tagName.slice(1));
    if (next > level + 1) problems.push(heading.textContent + ' is h' + next + ' after h' + level);
    if (heading.textContent.trim() === '') problems.push('a heading without text');
    level = next;
  }
  for (const table of all('table:not(.u-legend)')) {
    const headers = all('thead th', table);
    if (headers.length === 0) problems.push('a table without headers');
    for (const header of headers) {
      if (header.textContent.trim() === '' || header.scope !== 'col') problems.push('a header without text or scope');
    }
    const isNamed = table.caption || table.closest('[role="group"][aria-label]');
    if (!isNamed) problems.push('a table without a name');
  }
  for (const chart of all('figure.chart')) {
    if (!chart.getAttribute('aria-label') || !chart.querySelector('.spoken table caption')) {
      problems.push('a chart without an alternative');
    }
    if (all('canvas', chart).some((canvas) => !canvas.closest('[aria-hidden="true"]'))) {
      problems.push('a canvas that is read');
    }
  }
  for (const live of ['.toasts[role="status"]', '[role="status"][aria-live="assertive"]']) {
    if (all(live).length !== 1) problems.push('no live region ' + live);
  }
  return problems;
})()`;

test('each page has its landmarks, one heading of the first level, its title, named tables and readable charts', async () => {
  const found: string[] = [];
  for (const [place, heading] of places) {
    await visit(page, place, heading);
    for (const problem of await page.evaluate<string[]>(findProblems)) found.push(`${place}: ${problem}`);
  }
  assert.deepEqual(found, []);
});

test('the check of the semantics finds what is broken', async () => {
  await visit(page, '#/sources', 'Sources');
  await page.evaluate(`{
    document.title = 'Other';
    document.querySelector('main').append(document.createElement('h1'), document.createElement('table'));
  }`);
  const found = await page.evaluate<string[]>(findProblems);
  assert.ok(found.length >= 4, found.join());
  await page.reload();
});

test('a page begins with the focus, and going back returns to the title of before', async () => {
  await visit(page, '#/sources', 'Sources');
  await page.getByRole('link', { name: 'web', exact: true }).click();
  await page.getByRole('heading', { level: 1, name: 'Website' }).waitFor();
  assert.equal(await page.evaluate('document.activeElement.tagName'), 'MAIN');
  await page.getByRole('link', { name: 'Settings' }).click();
  await page.getByRole('button', { name: 'Add a write key' }).waitFor();
  assert.equal(
    await page.evaluate('document.activeElement.textContent'),
    'Settings',
    'a tab keeps the focus',
  );
  await page.goBack();
  await page.goBack();
  await page.getByRole('heading', { level: 1, name: 'Sources' }).waitFor();
  assert.equal(await page.title(), 'Sources · Tailrace');
  await goTo(page, '#/sources/+new');
  await eventually(
    () => page.evaluate<string>(`document.activeElement.labels?.[0]?.textContent ?? ''`),
    (label) => label === 'Name',
  );
});

test('results are announced in regions that were there before', async () => {
  await visit(page, '#/suppressions', 'Suppressions');
  await page.evaluate(`{
    window.announced = [];
    const live = [...document.querySelectorAll('[role="status"], [aria-live]')];
    new MutationObserver(() => {
      for (const region of live) if (region.isConnected) window.announced.push(region.textContent);
    }).observe(document, { childList: true, characterData: true, subtree: true });
  }`);
  await page.getByLabel('User', { exact: true }).fill('u-1');
  await page.keyboard.press('Enter');
  await page.getByText('is suppressed.').waitFor();
  await page.getByRole('button', { name: 'Remove u-1' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
  await told(page, 'The user is no longer suppressed.');
  await settled(page);
  const announced = (await page.evaluate<string[]>('window.announced')).join('\n');
  assert.match(announced, /u-1\W* is suppressed/);
  assert.match(announced, /no longer suppressed/);
});

test('a field that breaks a rule is named with the rule', async () => {
  await visit(page, '#/sources/+new', 'Create a source');
  const id = page.getByLabel('Id', { exact: true });
  await id.fill('not an id');
  await page.keyboard.press('Enter');
  await page.getByRole('alert').waitFor();
  assert.equal(await id.getAttribute('aria-invalid'), 'true');
  const described = await id.getAttribute('aria-describedby');
  assert.match(await page.locator(`[id="${String(described)}"] .problem`).innerText(), /letters, digits/);
});
