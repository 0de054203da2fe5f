/** The reference page of the API in a browser. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chromium } from 'playwright-core';
import { openApi } from '../../services/control/src/testing/api.ts';
import { findChromium } from '../support/clients.ts';

test('the reference page shows every operation over plain HTTP, also under another name than localhost', async () => {
  await using control = await openApi();
  const { port } = new URL(await control.listen());
  const { paths } = (await control.ask({ path: '/openapi.json', token: null })).json as {
    paths: Record<string, Record<string, unknown>>;
  };
  const operations = Object.values(paths).flatMap((methods) => Object.keys(methods));
  const browser = await chromium.launch({
    executablePath: await findChromium(),
    args: ['--no-sandbox', '--host-resolver-rules=MAP docs.test 127.0.0.1, MAP * ~NOTFOUND'],
  });
  try {
    const page = await browser.newPage();
    const complaints: string[] = [];
    page.on('console', (message) => {
      if (message.type() === 'error') complaints.push(message.text());
    });
    page.on('requestfailed', (request) => complaints.push(request.url()));
    await page.goto(`http://docs.test:${port}/docs/`);
    await page
      .locator('.opblock')
      .nth(operations.length - 1)
      .waitFor();
    assert.equal(await page.locator('.opblock').count(), operations.length);
    assert.deepEqual(complaints, []);
  } finally {
    await browser.close();
  }
});
