/** The console where its surroundings are bad: a slow or failing API, ended sessions, odd browsers, long and foreign names. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Locator, Page, Request, Route } from 'playwright-core';
import { adminToken, readToken } from '../../services/control/src/testing/api.ts';
import { goTo, settled, told, visit } from '../support/console/browser.ts';
import { openConsole } from '../support/console/console.ts';
import { seed } from '../support/console/history.ts';
import { eventually } from '@tailrace/testing';

const started = new AsyncDisposableStack();
after(() => started.disposeAsync());
const { browser, control, url } = started.use(
  await openConsole((control) => seed(control, { delivered: 20 })),
);

function press(page: Page, name: string): Promise<void> {
  return page.getByRole('button', { name, exact: true }).click();
}

/** The requests of the page for a path, from now on. */
function asked(page: Page, path: string): readonly Request[] {
  const requests: Request[] = [];
  page.on('request', (request) => {
    if (new URL(request.url()).pathname === path) requests.push(request);
  });
  return requests;
}

/** A page whose time stands still: it moves on with `clock.runFor`. */
async function openTimeless(): Promise<Page> {
  const { page } = await browser.open(url, { token: adminToken, isBlank: true });
  await page.clock.install();
  await page.goto(url);
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
  await page.clock.pauseAt(Date.now() + 60_000);
  return page;
}

/** Lets the time of the page go on until something holds, in small steps: a page draws with timers. */
async function runUntil(page: Page, holds: () => boolean | Promise<boolean>): Promise<void> {
  await eventually(async () => {
    await page.clock.runFor(20);
    return holds();
  });
}

/** Ends the session when the page saves: a request in the background might notice its end before. */
async function saveWithoutSession(page: Page): Promise<void> {
  const path = '**/v1/destinations/crm';
  const refuse = async (route: Route): Promise<void> => {
    if (route.request().method() === 'GET') return route.fallback();
    await page.context().clearCookies();
    await route.fulfill({ status: 401, json: { code: 'unauthorized', message: 'The session has ended.' } });
  };
  await page.route(path, refuse);
  await press(page, 'Save');
  await page.getByText('Your session has ended').waitFor();
  await page.unroute(path, refuse);
}

test('while the API has not answered, the page says so, sends a change once, and follows the reader', async () => {
  const { page } = await browser.open(`${url}#/sources/+new`, { token: adminToken });
  const { promise: answers, resolve: answer } = Promise.withResolvers<undefined>();
  const slow = async (route: Route): Promise<void> => {
    await answers;
    await route.continue().catch(() => undefined);
  };
  await page.getByLabel('Id', { exact: true }).fill('slow');
  await page.route('**/v1/{sources,destination-health}{,?*}', slow);
  const posts: string[] = [];
  page.on('request', (request) => {
    if (request.method() === 'POST') posts.push(request.url());
  });
  await page.keyboard.press('Enter');
  await page.keyboard.press('Enter');
  await page
    .getByRole('button', { name: 'Create a source' })
    .and(page.locator('[aria-busy="true"]'))
    .click({ force: true });
  const created = page.waitForResponse((answer) => answer.request().method() === 'POST');
  await goTo(page, '#/destinations');
  await page.locator('main [aria-busy="true"]').first().waitFor();
  answer(undefined);
  await created;
  await page.getByText('Source created').waitFor();
  await page.getByRole('link', { name: 'crm', exact: true }).waitFor();
  assert.equal(await page.getByRole('heading', { level: 1 }).innerText(), 'Destinations', 'the reader stays');
  assert.equal(posts.length, 1);
  await page.context().close();
});

test('what is typed while a change is saved stays, and is saved with the next one', async () => {
  const settings = { webhooks: [{ url: 'https://crm.example.com/hook' }] };
  const body = { id: 'typing', type: 'Webhooks', sources: ['web'], settings };
  await control.expect(201, { method: 'POST', path: '/v1/destinations', body });
  const { page } = await browser.open(`${url}#/destinations/typing?tab=settings`, { token: adminToken });
  const { promise: answers, resolve: answer } = Promise.withResolvers<undefined>();
  await page.route('**/v1/destinations/typing', async (route) => {
    if (route.request().method() === 'PATCH') await answers;
    await route.continue();
  });
  const name = page.getByLabel('Name', { exact: true });
  const rate = page.getByLabel('Max requests per second');
  await name.fill(' Renamed ');
  await press(page, 'Save');
  await rate.fill('7');
  answer(undefined);
  await told(page, 'Saved.');
  await page.getByRole('heading', { level: 1, name: 'Renamed' }).waitFor();
  assert.deepEqual([await name.inputValue(), await rate.inputValue()], ['Renamed', '7']);
  const saved = page.waitForResponse((answer) => answer.request().method() === 'PATCH');
  await press(page, 'Save');
  assert.deepEqual((await saved).request().postDataJSON(), { rateLimit: 7 });
  await page.context().close();
});

test('a server with too much to do is asked again when it says so, and not before', async () => {
  const page = await openTimeless();
  for (const [status, code] of [
    [429, 'too-many-requests'],
    [503, 'history-unavailable'],
  ] as const) {
    const requests = asked(page, '/v1/replays');
    await page.route('**/v1/replays?*', (route) =>
      requests.length > 1
        ? route.continue()
        : route.fulfill({ status, headers: { 'retry-after': '100' }, json: { code, message: 'Later.' } }),
    );
    await goTo(page, '#/replays');
    await runUntil(page, () => page.getByRole('alert').getByText('Later.').isVisible());
    await page.clock.runFor(80_000);
    assert.equal(requests.length, 1);
    await page.clock.runFor(20_000);
    await runUntil(page, () => page.getByText('No replays yet').isVisible());
    await page.unroute('**/v1/replays?*');
    // Until it is left, the page asks for its replays again and again.
    await goTo(page, '#/');
    await runUntil(page, () => page.getByRole('heading', { level: 1, name: 'Overview' }).isVisible());
  }
  await page.context().close();
});

test('a page that loads itself again waits for answers that take longer than its pauses', async () => {
  const page = await openTimeless();
  const requests = asked(page, '/v1/replays');
  const { promise: answers, resolve: answer } = Promise.withResolvers<undefined>();
  await page.route('**/v1/replays?*', async (route) => {
    await answers;
    await route.continue();
  });
  await goTo(page, '#/replays');
  await runUntil(page, () => requests.length > 0);
  await page.clock.runFor(60_000);
  assert.equal(requests.length, 1);
  answer(undefined);
  await runUntil(page, () => page.getByText('No replays yet').isVisible());
  await page.context().close();
});

test('an act can be undone for ten seconds', async () => {
  const page = await openTimeless();
  const button = (name: string) => page.getByRole('button', { name, exact: true });
  /** Without the mouse, which waits for the page to draw. */
  const activate = async (target: Locator): Promise<void> => {
    await runUntil(page, () => target.isVisible());
    await target.evaluate((element: { click(): void }) => element.click());
  };
  await goTo(page, '#/destinations/crm');
  await activate(button('Disable'));
  await activate(page.getByRole('dialog').getByRole('button', { name: 'Disable' }));
  const undo = button('Undo');
  await runUntil(page, () => undo.isVisible());
  await page.clock.runFor(9_000);
  assert.ok(await undo.isVisible());
  await page.clock.runFor(1_000);
  await runUntil(page, async () => !(await undo.isVisible()));
  await activate(button('Enable'));
  await runUntil(page, () => button('Disable').isVisible());
  await page.context().close();
});

test('an answer that is not of the API is reported, also at the start, and does not make a loop', async () => {
  const { page } = await browser.open(url, { token: adminToken });
  await page.route('**/v1/sources?*', (route) =>
    route.fulfill({ contentType: 'text/html', body: '<h1>Sign in to the proxy</h1>' }),
  );
  await visit(page, '#/sources', 'Sources');
  await page.getByRole('alert').getByText('did not come from Tailrace').waitFor();
  await page.unroute('**/v1/sources?*');
  await press(page, 'Try again');
  await page.getByRole('link', { name: 'web', exact: true }).waitFor();

  for (const answer of [
    { status: 200, body: '<html>' },
    { status: 429, body: '{}' },
    { status: 404, body: 'null' },
  ]) {
    await page.route('**/v1/session', (route) => route.fulfill(answer));
    const requests = asked(page, '/v1/session');
    await page.reload();
    await page.getByRole('button', { name: 'Try again' }).waitFor();
    await Promise.all([page.waitForResponse('**/v1/session'), press(page, 'Try again')]);
    await page.getByRole('alert').waitFor();
    assert.ok(requests.length <= 4, `${requests.length} requests for a status of ${answer.status}`);
    await page.unroute('**/v1/session');
    await press(page, 'Try again');
    await page.getByRole('heading', { level: 1, name: 'Sources' }).waitFor();
  }
  await page.context().close();
});

test('an error of the server is shown where it happened, with a way to try again', async () => {
  const { page } = await browser.open(`${url}#/sources/+new`, { token: adminToken });
  await page.getByLabel('Name', { exact: true }).fill('Typed');
  await page.route('**/v1/sources', (route) => route.fulfill({ status: 500, body: 'Internal Server Error' }));
  await press(page, 'Create a source');
  await page.getByRole('alert').getByText('Something went wrong.').waitFor();
  await page.unroute('**/v1/sources');
  await page.route('**/v1/sources', (route) => route.abort());
  await press(page, 'Create a source');
  await page.getByRole('alert').getByText('The server is not responding.').waitFor();
  assert.equal(await page.getByLabel('Name', { exact: true }).inputValue(), 'Typed');
  await page.unroute('**/v1/sources');
  await press(page, 'Create a source');
  await page.getByRole('heading', { level: 1, name: 'Typed' }).waitFor();
  await page.context().close();
});

test('a session that ends during an edit loses nothing that was typed, and shows it to no other token', async () => {
  const { page } = await browser.open(`${url}#/destinations/crm?tab=settings`, { token: adminToken });
  const name = page.getByLabel('Name', { exact: true });
  const signIn = page.getByRole('dialog', { name: 'Sign in' });
  const end = async (): Promise<void> => {
    await saveWithoutSession(page);
    assert.equal(await page.getByRole('heading', { level: 1 }).count(), 0, 'what is behind is not seen');
  };
  const withToken = async (token: string): Promise<void> => {
    await page.keyboard.insertText(token);
    await page.keyboard.press('Enter');
    await signIn.waitFor({ state: 'detached' });
  };
  await name.fill('Typed');
  await end();
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
  await signIn.getByLabel('Token').focus();
  await withToken(adminToken);
  assert.equal(await name.inputValue(), 'Typed');
  await press(page, 'Save');
  await page.getByRole('heading', { level: 1, name: 'Typed' }).waitFor();

  await name.fill('Secret plan');
  await end();
  await withToken(readToken);
  await page.getByRole('heading', { level: 1, name: 'Typed' }).waitFor();
  assert.equal(await page.locator('input').filter({ visible: true }).count(), 0);
  await page.context().close();
});

test('an answer that was asked for before a save does not undo it on the page', async () => {
  const { page } = await browser.open(`${url}#/destinations/crm?tab=settings`, { token: adminToken });
  const name = page.getByLabel('Name', { exact: true });
  const before = await name.inputValue();
  const { promise: saved, resolve: save } = Promise.withResolvers<undefined>();
  const path = '**/v1/destinations/crm';
  await name.fill('Saved');
  await saveWithoutSession(page);
  // The sign-in loads the page again.
  await page.route(path, async (route) => {
    if (route.request().method() !== 'GET') return route.continue();
    const response = await route.fetch();
    await saved;
    return route.fulfill({ response }).catch(() => undefined);
  });
  const asked = page.waitForRequest(path);
  await page.keyboard.insertText(adminToken);
  await page.keyboard.press('Enter');
  const early = await asked;
  const isEarly = (request: Request): boolean => request === early;
  const over = Promise.race([
    page.waitForEvent('requestfinished', isEarly),
    page.waitForEvent('requestfailed', isEarly),
  ]);
  await press(page, 'Save');
  await page.getByRole('heading', { level: 1, name: 'Saved' }).waitFor();
  save(undefined);
  await over;
  await page.unroute(path);
  await settled(page);
  assert.equal(await name.inputValue(), 'Saved');
  await name.fill(before);
  await press(page, 'Save');
  await page.getByRole('heading', { level: 1, name: before }).waitFor();
  await page.context().close();
});

test('a sign-out in one tab hides the other, and a sign-in shows both', async () => {
  const { page: first } = await browser.open(`${url}#/sources`, { token: adminToken });
  await first.getByRole('heading', { level: 1, name: 'Sources' }).waitFor();
  const second = await first.context().newPage();
  await second.goto(`${url}#/tokens`);
  await second.getByRole('heading', { level: 1, name: 'Tokens' }).waitFor();
  await press(second, 'Sign out');
  await second.getByLabel('Token').waitFor();
  await first.getByText('Your session has ended').waitFor();
  assert.equal(await first.getByRole('heading', { level: 1 }).count(), 0);
  await second.getByLabel('Token').fill(adminToken);
  await press(second, 'Sign in');
  await second.getByRole('heading', { level: 1, name: 'Tokens' }).waitFor();
  await first.getByRole('heading', { level: 1, name: 'Sources' }).waitFor();
  await first.context().close();
});

const places: readonly (readonly [place: string, heading: string])[] = [
  ['#/', 'Overview'],
  ['#/?since=6h', 'Overview'],
  ['#/deliveries?status=dead&destination=erp', 'Deliveries'],
  ['#/why/event-filtered', 'Why'],
  ['#/replays?destination=erp', 'Dead letters'],
  ['#/sources/app?tab=events', 'Mobile app'],
  ['#/destinations/erp?tab=failures', 'Orders'],
  ['#/destinations/+new?type=Webhooks&source=web', 'Create a destination'],
  ['#/audiences/app', 'Audiences'],
  ['#/audit?outcome=done&since=24h', 'Audit'],
];

test('each address is the same page after a reload, and by going back and forward', async () => {
  const { page, complaints } = await browser.open(url, { token: adminToken });
  for (const [place, heading] of places) {
    await visit(page, place, heading);
    await page.reload();
    await page.getByRole('heading', { level: 1, name: heading }).waitFor();
    assert.ok(page.url().endsWith(place), page.url());
  }
  for (const [place, heading] of places.toReversed().slice(1)) {
    await page.goBack();
    await page.getByRole('heading', { level: 1, name: heading }).waitFor();
    assert.ok(page.url().endsWith(place), page.url());
  }
  await page.goForward();
  assert.ok(page.url().endsWith(String(places[1]?.[0])));
  assert.deepEqual(complaints, []);
  await page.context().close();
});

test('going back closes a question, which then does nothing', async () => {
  const { page } = await browser.open(`${url}#/destinations`, { token: adminToken });
  await visit(page, '#/destinations/mailer', 'Mail service');
  await press(page, 'Disable');
  await page.getByRole('dialog').waitFor();
  await page.goBack();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  const { enabled } = await control.expect(200, { path: '/v1/destinations/mailer' });
  assert.equal(enabled, true);
  await page.context().close();
});

test('a selection that begins in a field of a dialog and ends outside does not close it', async () => {
  const { page } = await browser.open(`${url}#/tokens`, { token: adminToken });
  await press(page, 'Create a token');
  const name = page.getByLabel('Name', { exact: true });
  await name.fill('Grafana');
  const box = await name.boundingBox();
  assert.ok(box);
  await page.mouse.move(box.x + 40, box.y + 10);
  await page.mouse.down();
  await page.mouse.move(5, box.y + 10);
  await page.mouse.up();
  assert.equal(await name.inputValue(), 'Grafana');
  await page.mouse.click(5, 5);
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.context().close();
});

test('a browser whose clock is an hour wrong shows the right time until an attempt', async () => {
  const { page } = await browser.open(url, { token: adminToken });
  await page.clock.install({ time: Date.now() + 3_600_000 });
  await page.goto(`${url}#/destinations/mailer`);
  await page.reload();
  const due = page.getByText('next attempt').or(page.getByText('next probe')).locator('time').last();
  await due.waitFor();
  assert.match(await due.innerText(), /^(in \d+ s|now|\d+ (s|min) ago)$/);
  await page.context().close();
});

test('without storage and other conveniences of a browser the console works', async () => {
  const { page, complaints } = await browser.open('about:blank');
  await page.addInitScript({
    content: `
      for (const name of ['localStorage', 'sessionStorage']) {
        Object.defineProperty(window, name, { get() { throw new DOMException('denied', 'SecurityError'); } });
      }
      delete window.BroadcastChannel;
    `,
  });
  await page.goto(url);
  await page.getByLabel('Token').fill(adminToken);
  await press(page, 'Sign in');
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
  await page.getByRole('button', { name: /^Theme/ }).click();
  await settled(page);
  assert.deepEqual(complaints, []);
  await page.context().close();
});

test('motion is reduced for readers who ask for it', async () => {
  const { page } = await browser.open(`${url}#/sources/app?tab=settings`, { token: adminToken });
  for (const [reducedMotion, name] of [
    ['reduce', 'none'],
    ['no-preference', 'appear'],
  ] as const) {
    await page.emulateMedia({ reducedMotion });
    await press(page, 'Save');
    const animations =
      "[...document.querySelectorAll('.toast')].map((toast) => getComputedStyle(toast).animationName)";
    await eventually(
      () => page.evaluate<string[]>(animations),
      (shown) => shown.at(-1) === name,
    );
  }
  await page.context().close();
});

/** The elements that make the page wider than its window. */
const findTooWide = `(() => {
  const { scrollWidth, clientWidth } = document.documentElement;
  if (scrollWidth <= clientWidth) return [];
  const wide = [...document.body.querySelectorAll('*')].filter(
    (element) => element.getBoundingClientRect().right > clientWidth && !element.closest('.scroll, .spoken, .tabs'));
  return wide.map((element) => element.outerHTML.slice(0, 120));
})()`;

test('names of the longest kind fit a phone and a page at 200 %, and none turns a sentence around', async () => {
  const long = 'W'.repeat(200);
  const hebrew = 'הזמנה \u202eהושלמה';
  await control.expect(201, {
    method: 'POST',
    path: '/v1/sources',
    body: { id: 's'.repeat(64), name: long },
  });
  const settings = { webhooks: [{ url: `https://crm.example.com/${'p'.repeat(250)}` }] };
  const body = {
    id: 'd'.repeat(64),
    name: long,
    type: 'Webhooks',
    enabled: true,
    sources: ['s'.repeat(64)],
    settings,
  };
  await control.expect(201, { method: 'POST', path: '/v1/destinations', body });
  await control.expect(201, {
    method: 'POST',
    path: '/v1/tokens',
    body: { name: long.slice(0, 100), scope: 'read' },
  });
  await control.expect(200, { method: 'POST', path: '/v1/suppressions', body: { userIds: [long, hebrew] } });
  for (const name of [long, hebrew]) {
    const path = `/v1/sources/${'s'.repeat(64)}/blocked-events/${encodeURIComponent(name)}`;
    await control.expect(200, { method: 'PUT', path });
  }
  const { page } = await browser.open(url, { token: adminToken });
  const source = `#/sources/${'s'.repeat(64)}`;
  const destination = `#/destinations/${'d'.repeat(64)}`;
  for (const viewport of [
    { width: 390, height: 844 },
    // A window of 1280 by 860 at 200 %.
    { width: 640, height: 430 },
  ]) {
    await page.setViewportSize(viewport);
    for (const place of [
      source,
      `${source}?tab=events`,
      `${source}?tab=settings`,
      '#/sources',
      destination,
      '#/destinations',
      `${destination}?tab=settings`,
      '#/audiences',
      '#/tokens',
      '#/suppressions',
      `#/why/${long}`,
    ]) {
      await goTo(page, place);
      await page.locator('h1').waitFor();
      await settled(page);
      assert.deepEqual(await page.evaluate<string[]>(findTooWide), [], `${place} at ${viewport.width}`);
    }
    await goTo(page, `${source}?tab=events`);
    await page.getByRole('button', { name: `Unblock ${long}` }).scrollIntoViewIfNeeded();
  }
  await goTo(page, '#/suppressions');
  await page.getByRole('button', { name: `Remove ${hebrew}` }).click();
  const dialog = page.getByRole('dialog');
  await dialog.waitFor();
  const [name, end] = await page.evaluate<[number, number]>(`(() => {
    const { firstChild } = document.querySelector('dialog h2');
    const leftOf = (text) => {
      const range = document.createRange();
      const at = firstChild.data.indexOf(text);
      range.setStart(firstChild, at);
      range.setEnd(firstChild, at + text.length);
      return range.getBoundingClientRect().left;
    };
    return [leftOf('הזמנה'), leftOf('again')];
  })()`);
  assert.ok(name < end, 'the words after the name stay after it');
  await page.context().close();
});

test('no source and 1,000 sources are shown, and can be chosen from', async () => {
  const { page } = await browser.open(url, { token: adminToken });
  let count = 0;
  await page.route('**/v1/sources?*', (route) => {
    const query = new URL(route.request().url()).searchParams;
    const from = Number(query.get('cursor') ?? 0);
    const to = Math.min(count, from + Number(query.get('limit')));
    const items = Array.from({ length: to - from }, (_, index) => ({
      id: `source-${from + index}`,
      enabled: true,
      builtIn: false,
      writeKeys: ['wk'],
    }));
    return route.fulfill({ json: { items, ...(to < count && { next: String(to) }) } });
  });
  await visit(page, '#/sources', 'Sources');
  await page.getByText('No sources yet').waitFor();
  await visit(page, '#/audiences', 'Audiences');
  await page.getByText('An audience belongs to a source').waitFor();
  await visit(page, '#/destinations/+new?type=Webhooks', 'Create a destination');
  await page.getByText('No sources yet. You can connect').waitFor();

  count = 1_000;
  await visit(page, '#/sources', 'Sources');
  for (let shown = 100; shown < count; shown += 100) {
    await page.getByRole('link', { name: `source-${shown - 1}`, exact: true }).waitFor();
    await press(page, 'Show more');
  }
  await page.getByRole('link', { name: 'source-999', exact: true }).waitFor();
  await visit(page, '#/audiences/source-999', 'Audiences');
  assert.equal(await page.getByLabel('Source', { exact: true }).inputValue(), 'source-999');
  await visit(page, '#/destinations/+new?type=Webhooks&source=source-999', 'Create a destination');
  const chosen = page.getByRole('checkbox', { name: 'source-999', exact: true });
  await chosen.waitFor();
  assert.ok(await chosen.isChecked());
  await page.context().close();
});

test('days are days in UTC, and times are exact in zones of half hours and when clocks change', async () => {
  const days = ['2026-10-23', '2026-10-24', '2026-10-25'];
  const items = days.map((day) => ({ day, calls: 3, filtered: 0, byType: { track: 3 } }));
  // Both are 02:30 in Berlin, and 00:30Z is a quarter to seven in Kathmandu.
  const [summer, winter] = ['2026-10-25T00:30:00.000Z', '2026-10-25T01:30:00.000Z'];
  const attempt = { attempt: 1, startedAt: winter, latencyMs: 3, outcome: 'delivered', urls: [] };
  const delivery = {
    deliveryId: 'd',
    eventId: 'e',
    sourceId: 'web',
    destinationId: 'crm',
    type: 'track',
    userKey: 'ada',
    status: 'delivered',
    attempts: 1,
    createdAt: summer,
    changedAt: winter,
    history: [attempt],
    resends: [],
  };
  for (const [timezoneId, shownSummer, shownWinter] of [
    ['Europe/Berlin', '2026-10-25 02:30:00', '2026-10-25 02:30:00'],
    ['Asia/Kathmandu', '2026-10-25 06:15:00', '2026-10-25 07:15:00'],
    ['Australia/Lord_Howe', '2026-10-25 11:30:00', '2026-10-25 12:30:00'],
    ['America/Los_Angeles', '2026-10-24 17:30:00', '2026-10-24 18:30:00'],
  ] as const) {
    const { page } = await browser.open(url, { token: adminToken, timezoneId, isBlank: true });
    await page.route('**/v1/deliveries/d', (route) => route.fulfill({ json: delivery }));
    await page.route('**/v1/sources/web/usage*', (route) => route.fulfill({ json: { items } }));
    await page.goto(`${url}#/deliveries/d`);
    await visit(page, '#/deliveries/d', 'track');
    const times = page.locator('.time-line time');
    for (const [index, shown, utc] of [
      [0, shownSummer, '00:30:00'],
      [1, shownWinter, '01:30:00'],
    ] as const) {
      assert.equal(await times.nth(index).innerText(), shown, timezoneId);
      assert.equal(await times.nth(index).getAttribute('title'), `2026-10-25 ${utc} UTC`, timezoneId);
    }
    await visit(page, '#/sources/web?tab=usage', 'Website');
    assert.deepEqual(
      await page.locator('.chart .spoken th[scope="row"]').allTextContents(),
      days,
      timezoneId,
    );
    await page.context().close();
  }
});
