/** Whether texts of others have stayed texts: no markup, script, address or dialog was made of them. */
import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import type { OpenedPage } from './browser.ts';

/** Each would set `window.hacked`, load a picture or make an element, if it were more than a text. */
export const hostileTexts = {
  markup: '<img src=https://evil.test/x onerror="window.hacked=1"><svg onload="window.hacked=1">',
  attribute: '" onmouseover="window.hacked=1" autofocus onfocus="window.hacked=1" x="',
  script: '</script><script>window.hacked=1</script>',
  frame: '<iframe srcdoc="<script>parent.hacked=1</script>"></iframe><style>*{display:none}</style>',
  address: 'javascript:window.hacked=1',
  template: '{{constructor.constructor("window.hacked=1")()}}${window.hacked=1}',
} as const;
/** All of them in one line, for places that have one value. */
export const hostile = Object.values(hostileTexts).join(' ');

/** Finds parts that the page would not have without hostile texts. */
const find = `(() => {
  const found = [];
  if ('hacked' in window) found.push('a script ran');
  const made = document.body.querySelectorAll(
    'img, script, iframe, object, embed, style, link, base, form[action], svg:not(nav svg), [onerror], [onload], [onmouseover], [onfocus]',
  );
  for (const element of made) found.push('an element: ' + element.outerHTML.slice(0, 100));
  for (const { href } of document.querySelectorAll('a[href]')) {
    const own = document.baseURI.split('#', 1)[0];
    if (![own + '#/', own + 'v1/'].some((start) => href.startsWith(start))) found.push('an address: ' + href);
  }
  return found;
})()`;

/** @returns what is wrong, as sentences */
export function activeParts(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(find);
}

export async function assertInert({ page, complaints, foreign }: OpenedPage, where: string): Promise<void> {
  const expected = /status of 4\d\d/;
  const reported = complaints.filter((complaint) => !expected.test(complaint));
  assert.deepEqual([...(await activeParts(page)), ...reported, ...foreign], [], where);
}
