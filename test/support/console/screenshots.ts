/**
 * `npm run console:screenshots`: pictures of each page and of dialogs into test/.results/console, light, dark and on a phone. To be run
 * after a change of a page, and looked at; `-- tokens audit` takes those whose names begin so. Those of the README are copied to
 * docs/console: pictures make a repository large.
 */
import { copyFileSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { adminToken, openApi } from '../../../services/control/src/testing/api.ts';
import { openBrowser, settled, visit, type PageOptions } from './browser.ts';
import { deletionId, seedEntries } from './entries.ts';
import { seed } from './history.ts';
import { seededPlaces } from './places.ts';

const root = path.join(import.meta.dirname, '../../..');
const folder = path.join(root, 'test/.results/console');
const inReadme = ['overview-light.png', 'delivery-dark.png', 'deliveries-phone.png'];
const pages = [
  ...seededPlaces,
  { name: 'notification', hash: '#/notifications/chat', heading: 'Operations chat' },
  { name: 'deletion', hash: `#/deletions/${deletionId}`, heading: deletionId },
];
interface Opened {
  readonly name: string;
  readonly hash: string;
  readonly heading: string;
  /** Opens the dialog, or has the page show a result. */
  readonly open: (page: Page) => Promise<void>;
}

const press =
  (...names: readonly (string | RegExp)[]) =>
  async (page: Page): Promise<void> => {
    for (const name of names) await page.getByRole('button', { name }).last().click();
  };
const opened: readonly Opened[] = [
  {
    name: 'dialog-confirm',
    hash: '#/destinations/crm',
    heading: 'Customer database',
    open: press('Disable'),
  },
  {
    name: 'dialog-delete',
    hash: '#/destinations/crm?tab=settings',
    heading: 'Customer database',
    open: press('Delete destination'),
  },
  { name: 'dialog-token', hash: '#/tokens', heading: 'Tokens', open: press('Create a token') },
  {
    name: 'dialog-secret',
    hash: '#/sources/web?tab=settings',
    heading: 'Website',
    open: press('Add a write key'),
  },
  { name: 'dialog-replay', hash: '#/replays', heading: 'Dead letters', open: press(/^Replay …/) },
  { name: 'dialog-issue', hash: '#/issues', heading: 'Issues', open: press(/^Dismiss/) },
  { name: 'dialog-view', hash: '#/deliveries?status=dead', heading: 'Deliveries', open: press(/^Save this/) },
  { name: 'dialog-audience', hash: '#/audiences/web', heading: 'Audiences', open: press(/^Send VIP/) },
  { name: 'dialog-palette', hash: '#/', heading: 'Overview', open: press(/^Go to/) },
  {
    name: 'filter-tried',
    hash: '#/destinations/erp?tab=filter',
    heading: 'Orders',
    open: press('Test filter'),
  },
  { name: 'test-sent', hash: '#/destinations/erp?tab=test', heading: 'Orders', open: press('Send') },
];
const wanted = process.argv.slice(2);
const isWanted = (name: string): boolean => wanted.length === 0 || wanted.some((one) => name.startsWith(one));
const kinds: readonly (readonly [name: string, options: PageOptions])[] = [
  ['light', {}],
  ['dark', { theme: 'dark' }],
  ['phone', { phone: true }],
];

mkdirSync(folder, { recursive: true });
// First: it builds the console, which control reads at its start.
await using browser = await openBrowser();
await using control = await openApi();
await seed(control);
await seedEntries(control);
const url = `${await control.listen()}/`;
for (const [kind, options] of kinds) {
  const take = (page: Page, name: string, fullPage = true) =>
    page.screenshot({ path: path.join(folder, `${name}-${kind}.png`), fullPage });
  const signIn = await browser.open(url, options);
  await signIn.page.getByLabel('Token').waitFor();
  await take(signIn.page, 'sign-in');
  const { page } = await browser.open(url, { ...options, token: adminToken });
  for (const { name, hash, heading } of pages.filter(({ name }) => isWanted(name))) {
    await visit(page, hash, heading);
    if (name === 'overview') await page.locator('.chart canvas').nth(1).waitFor();
    await settled(page);
    await take(page, name, name !== 'deliveries');
  }
  for (const { name, hash, heading, open } of opened.filter(({ name }) => isWanted(name))) {
    await visit(page, hash, heading);
    await open(page);
    const isDialog = name.startsWith('dialog');
    // The button that has opened it is busy.
    if (isDialog) await page.locator('dialog :not(.skeleton)').first().waitFor();
    else await settled(page);
    await take(page, name, !isDialog);
    await page.keyboard.press('Escape');
  }
}
if (wanted.length === 0) {
  for (const name of inReadme) copyFileSync(path.join(folder, name), path.join(root, 'docs/console', name));
}
