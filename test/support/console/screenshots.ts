/**
 * `npm run console:screenshots`: pictures of each page into test/.results/console, light, dark and on a phone. To be run after a change of
 * a page, and looked at. Those of the README are copied to docs/console: pictures make a repository large.
 */
import { copyFileSync, mkdirSync } from 'node:fs';
import path from 'node:path';
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
  const signIn = await browser.open(url, options);
  await signIn.page.getByLabel('Token').waitFor();
  await signIn.page.screenshot({ path: path.join(folder, `sign-in-${kind}.png`) });
  const { page } = await browser.open(url, { ...options, token: adminToken });
  for (const { name, hash, heading } of pages) {
    await visit(page, hash, heading);
    if (name === 'overview') await page.locator('.chart canvas').nth(1).waitFor();
    await settled(page);
    await page.screenshot({
      path: path.join(folder, `${name}-${kind}.png`),
      fullPage: name !== 'deliveries',
    });
  }
}
for (const name of inReadme) copyFileSync(path.join(folder, name), path.join(root, 'docs/console', name));
