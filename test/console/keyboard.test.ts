/** Every action of the console with the keyboard alone: no test of this file uses the mouse. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Page } from 'playwright-core';
import { adminToken } from '../../services/control/src/testing/api.ts';
import { eventually } from '@tailrace/testing';
import { settled, told, visit } from '../support/console/browser.ts';
import { openConsole } from '../support/console/console.ts';
import { seed } from '../support/console/history.ts';
import { startReceiver } from '../support/receivers/receiver.ts';
import { answer, enter, isFocused, keepsFocus, tabTo, type } from '../support/console/keyboard.ts';

/** Their replay, of which one is sent in a second, is cancelled long before its end. */
const letters = 600;
const started = new AsyncDisposableStack();
after(() => started.disposeAsync());
const { browser, control, url } = started.use(
  await openConsole((control) => seed(control, { delivered: 20, dead: letters }), {
    TAILRACE_ALLOW_PRIVATE_NETWORKS: '127.0.0.0/8',
  }),
);
const receiver = started.use(await startReceiver());

/** A test with a page of its own, in which nothing may go wrong unseen. */
function withKeyboard(title: string, act: (page: Page) => Promise<void>): void {
  test(title, async () => {
    const { page, complaints } = await browser.open(url, { token: adminToken });
    await page.locator('h1').waitFor();
    await act(page);
    assert.deepEqual(complaints, []);
    await page.context().close();
  });
}

test('a user signs in', async () => {
  const { page } = await browser.open(url);
  await page.getByLabel('Token').waitFor();
  await keepsFocus(page, 'at the sign-in');
  await page.keyboard.insertText(adminToken);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
  await keepsFocus(page, 'after the sign-in');
  await page.context().close();
});

withKeyboard('a source is created, gets a second write key and loses it', async (page) => {
  await enter(page, 'Sources', 'link');
  await enter(page, 'Create a source', 'link');
  await page.getByRole('heading', { level: 1, name: 'Create a source' }).waitFor();
  await type(page, 'Name', 'Shop');
  await type(page, 'Id', 'shop');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: 'Shop' }).waitFor();
  await enter(page, 'Settings', 'link');
  await type(page, 'Name', 'Web shop');
  await enter(page, 'Save');
  await page.getByRole('heading', { level: 1, name: 'Web shop' }).waitFor();
  await enter(page, 'Add a write key');
  await answer(page, 'Done');
  const remove = page.getByRole('button', { name: /^Remove wk_|^Remove \S+$/ });
  await tabTo(page, remove.last());
  await page.keyboard.press('Enter');
  await answer(page, 'Remove');
  await remove.first().waitFor({ state: 'detached' });
  await keepsFocus(page, 'after the removal of a key');
});

withKeyboard('a destination is connected, tried, enabled, disabled, paused and resumed', async (page) => {
  await visit(page, '#/sources/app', 'Mobile app');
  await enter(page, 'Connect a destination', 'link');
  await type(page, 'Id', 'books');
  const connected = page.getByRole('checkbox', { name: 'web', exact: true });
  await tabTo(page, connected);
  await page.keyboard.press('Space');
  assert.ok(await connected.isChecked());
  await type(page, 'URL 1', `${receiver.url}/hook`);
  await enter(page, 'Generate');
  await answer(page, 'Done');
  await enter(page, 'Create a destination');
  await page.getByRole('heading', { level: 1, name: 'books' }).waitFor();
  await enter(page, 'Send');
  await page.getByText('accepted').waitFor();
  await enter(page, 'Enable');
  await page.getByRole('button', { name: 'Disable' }).waitFor();
  await keepsFocus(page, 'after it was enabled');
  await enter(page, 'Pause');
  await enter(page, 'Resume');
  await page.getByRole('button', { name: 'Pause' }).waitFor();
  await enter(page, 'Disable');
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await keepsFocus(page, 'after a question that was not answered');
  await page.keyboard.press('Enter');
  await answer(page, 'Disable');
  await page.getByRole('button', { name: 'Enable' }).waitFor();
  await keepsFocus(page, 'after it was disabled');
});

withKeyboard('a destination is configured, gets a filter and a new secret, and is deleted', async (page) => {
  await visit(page, '#/destinations/mailer', 'Mail service');
  await enter(page, 'Filter', 'link');
  await type(page, 'Only these events', 'Order *');
  await enter(page, 'Save filter');
  await page.getByRole('button', { name: 'Remove filter' }).waitFor();
  await enter(page, 'Test filter');
  await page.getByText('would receive this call').waitFor();
  await enter(page, 'Remove filter');
  await page.getByRole('button', { name: 'Remove filter' }).waitFor({ state: 'detached' });
  await keepsFocus(page, 'after the removal of the filter');
  await enter(page, 'Settings', 'link');
  await type(page, 'Max requests per second', '50');
  await tabTo(page, page.getByLabel('Order', { exact: true }));
  await page.keyboard.press('ArrowDown');
  await enter(page, 'Generate');
  await answer(page, 'Done');
  await enter(page, 'Save');
  await told(page, 'Saved.');
  await enter(page, 'Rotate secret');
  await answer(page, 'Done');
  const { rateLimit, ordering } = await control.expect(200, { path: '/v1/destinations/mailer' });
  assert.deepEqual({ rateLimit, ordering }, { rateLimit: 50, ordering: 'user' });
  await enter(page, 'Delete destination');
  await answer(page, 'Delete destination');
  await page.getByRole('heading', { level: 1, name: 'Destinations' }).waitFor();
  await keepsFocus(page, 'after the destination was deleted');
});

withKeyboard('an event is blocked and unblocked', async (page) => {
  await visit(page, '#/sources/app?tab=events', 'Mobile app');
  await type(page, 'Event', 'Cart Updated');
  await page.keyboard.press('Enter');
  await answer(page, 'Block');
  await enter(page, 'Unblock Cart Updated');
  await page.getByText('No events yet').waitFor();
  await keepsFocus(page, 'after its row is gone');
});

withKeyboard('an audience is uploaded and deleted', async (page) => {
  await visit(page, '#/audiences/app', 'Audiences');
  await type(page, 'Name of the audience', 'Buyers');
  // Before the key is pressed, so that the browser does not open a window of its own.
  const chooser = page.waitForEvent('filechooser');
  const file = page.getByLabel('File', { exact: true });
  await tabTo(page, file);
  await page.keyboard.press('Space');
  await (
    await chooser
  ).setFiles({ name: 'b.csv', mimeType: 'text/csv', buffer: Buffer.from('userId\nada\n') });
  await enter(page, 'Upload a list');
  await answer(page, 'Replace members');
  await page.getByRole('row', { name: /Buyers.*done/ }).waitFor();
  await enter(page, 'Delete Buyers');
  await answer(page, 'Delete');
  await page.getByText('No audiences for this source').waitFor();
  await keepsFocus(page, 'after its row is gone');
});

withKeyboard(
  'a user is deleted and the deletion lifted; a user is suppressed, found and removed',
  async (page) => {
    await visit(page, '#/deletions', 'Deletions');
    await type(page, 'User ids', 'u-1');
    await enter(page, 'Delete users');
    await answer(page, 'Delete users');
    await enter(page, 'Lift deletion');
    await answer(page, 'Lift deletion');
    await page.getByRole('button', { name: 'Lift deletion' }).waitFor({ state: 'detached' });
    await keepsFocus(page, 'after the deletion was lifted');
    await visit(page, '#/suppressions', 'Suppressions');
    await type(page, 'User ids', 'u-2');
    await enter(page, 'Suppress users');
    await answer(page, 'Suppress users');
    await page.getByRole('button', { name: 'Remove u-2' }).waitFor();
    await type(page, 'User', 'u-2');
    await page.keyboard.press('Enter');
    await page.getByText('is suppressed.').waitFor();
    await enter(page, 'Remove u-2');
    await answer(page, 'Remove');
    await page.getByText('No suppressed users').waitFor();
    await keepsFocus(page, 'after its row is gone');
  },
);

withKeyboard('a token is created and revoked', async (page) => {
  await visit(page, '#/tokens', 'Tokens');
  await enter(page, 'Create a token');
  await page.keyboard.insertText('Grafana');
  await tabTo(page, page.getByLabel('Scope'));
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await tabTo(page, page.getByRole('button', { name: 'Create', exact: true }));
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'New token' }).waitFor();
  await answer(page, 'Done');
  await enter(page, 'Revoke Grafana');
  await answer(page, 'Revoke');
  await page.getByText('No tokens yet').waitFor();
  await keepsFocus(page, 'after its row is gone');
});

withKeyboard(
  'dead letters are counted and replayed, the replay is cancelled, and a delivery is sent again',
  async (page) => {
    await visit(page, '#/replays', 'Dead letters');
    await enter(page, /^Replay/);
    const dialog = page.getByRole('dialog');
    await dialog.getByText(`${letters} dead letters will be sent again`).waitFor();
    await type(page, 'Max per second', '1');
    await answer(page, 'Start replay');
    await enter(page, 'Cancel');
    await answer(page, 'Cancel replay');
    await page
      .getByRole('row', { name: new RegExp(`of ${letters}`) })
      .getByRole('button')
      .waitFor({ state: 'detached' });
    await keepsFocus(page, 'after the replay has ended');
    await visit(page, '#/deliveries?status=dead', 'Deliveries');
    await tabTo(page, page.getByRole('listbox', { name: 'Deliveries' }));
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.getByText('Timeline').waitFor();
    await enter(page, 'Resend');
    await answer(page, 'Resend');
    await told(page, 'Resending.');
  },
);

withKeyboard('past events are counted before they are sent', async (page) => {
  await visit(page, '#/destinations/crm', 'Customer database');
  await enter(page, 'Send past events', 'link');
  await page.getByRole('heading', { level: 1, name: 'Send past events' }).waitFor();
  await enter(page, 'Count events');
  await page.getByText('Nothing to send.').waitFor();
  await type(page, 'Condition', '{"field": "userId"');
  await page.getByText('Enter a JSON object.').waitFor();
  await type(page, 'Condition', '{"field": "userId", "exists": true}');
  await enter(page, 'Count events');
  await page.getByText('Nothing to send.').waitFor();
});

withKeyboard('rows are chosen one by one, as a range, all and none, and are sent again', async (page) => {
  await visit(page, '#/deliveries?destination=crm', 'Deliveries');
  const list = page.getByRole('listbox', { name: 'Deliveries' });
  const chosen = list.locator('[aria-selected="true"]');
  const press = async (keys: readonly string[], rows: number): Promise<void> => {
    for (const key of keys) await page.keyboard.press(key);
    await eventually(
      () => chosen.count(),
      (count) => count === rows,
    );
  };
  await tabTo(page, list);
  await press(['Space'], 1);
  await press(['ArrowDown', 'ArrowDown', 'Space'], 2);
  await press(['Space'], 1);
  await press(['Shift+ArrowDown'], 3);
  await press(['Escape'], 0);
  await press(['Control+a'], 20);
  await enter(page, 'Clear selection');
  await press([], 0);
  await enter(page, 'Select all shown');
  await press([], 20);
  await tabTo(page, list);
  await press(['Escape', 'Home', 'Space', 'ArrowDown', 'Shift+Space'], 2);
  await enter(page, 'Resend selected (2)');
  await tabTo(page, page.getByRole('dialog').getByRole('button', { name: 'Resend', exact: true }));
  await page.keyboard.press('Enter');
  await page.getByText('Resending 2. 0 could not be resent.').waitFor();
  await answer(page, 'Done');
});

withKeyboard('a condition is built, changed and removed', async (page) => {
  await visit(page, '#/destinations/crm?tab=filter', 'Customer database');
  const json = page.getByLabel('Condition', { exact: true });
  const shows = (condition: object | undefined): Promise<string> =>
    eventually(
      () => json.inputValue(),
      (text) => text === (condition === undefined ? '' : JSON.stringify(condition, undefined, 2)),
    );
  /** Chooses an entry below the one that is chosen. Its first letters would have to be typed within a second of each other. */
  const choose = async (label: string, value: string): Promise<void> => {
    const list = page.getByLabel(label, { exact: true });
    await tabTo(page, list);
    for (let presses = 0; presses < 10 && (await list.inputValue()) !== value; presses += 1) {
      await page.keyboard.press('ArrowDown');
    }
    assert.equal(await list.inputValue(), value);
  };
  await enter(page, 'Add a condition');
  assert.ok(await isFocused(page.getByLabel('Field of condition 1')), 'what was added has the focus');
  await page.keyboard.type('userId');
  await choose('Operator of condition 1', 'exists');
  await shows({ field: 'userId', exists: true });
  await enter(page, 'Add a group');
  assert.ok(await isFocused(page.getByLabel('Field of condition 1.2.1')), 'what was added has the focus');
  await page.keyboard.type('event');
  await type(page, 'Value of condition 1.2.1', 'Order');
  await enter(page, 'Add a condition 1.2');
  await page.keyboard.type('type');
  await choose('Sense of condition 1.2.2', 'not');
  await choose('Combination of group 1.2', 'not-any');
  const none = [{ field: 'event', equals: 'Order' }, { not: { field: 'type', equals: '' } }];
  await shows({ all: [{ field: 'userId', exists: true }, { not: { any: none } }] });
  await enter(page, 'Remove condition 1.2.2');
  await enter(page, 'Remove group 1.2');
  await enter(page, 'Remove condition 1.1');
  await shows(undefined);
});

withKeyboard('the palette leads to pages and returns the focus, and a user signs out', async (page) => {
  await visit(page, '#/deliveries', 'Deliveries');
  const event = page.getByLabel('Event', { exact: true });
  await tabTo(page, event);
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Page, source' }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  assert.ok(await isFocused(event));
  await page.keyboard.press('Control+k');
  // Before, what is typed would go into the field behind it.
  const palette = page.getByRole('combobox', { name: 'Page, source' });
  await eventually(() => isFocused(palette), Boolean);
  await page.keyboard.insertText('audit');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: 'Audit' }).waitFor();
  await settled(page);
  await enter(page, /^Theme/);
  await enter(page, 'Sign out');
  await page.getByLabel('Token').waitFor();
  await keepsFocus(page, 'after the sign-out');
  await page.keyboard.press('Control+k');
  assert.equal(await page.getByRole('dialog').count(), 0, 'no palette without a session');
});
