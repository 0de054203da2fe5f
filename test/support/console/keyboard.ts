/** The console without a mouse: elements are reached with Tab, and the focus is visible and never lost. */
import assert from 'node:assert/strict';
import type { Locator, Page } from 'playwright-core';
import { eventually } from '@tailrace/testing';
import { isBusy } from './browser.ts';

/** More than any page has. */
const maxPresses = 150;
/** Nothing has the focus, so that the next Tab begins at the start of the page. */
const isLost = 'document.activeElement === null || document.activeElement === document.body';

const isInDialog = `document.querySelector('dialog[open]').contains(document.activeElement)`;
const outlineWidth = `(() => {
  const { outlineStyle, outlineWidth } = getComputedStyle(document.activeElement);
  return outlineStyle === 'none' ? 0 : parseFloat(outlineWidth);
})()`;

export function isFocused(target: Locator): Promise<boolean> {
  return target.evaluate((element: { matches(selector: string): boolean }) => element.matches(':focus'));
}

interface Element {
  readonly isConnected: boolean;
  matches(selector: string): boolean;
}

/** Presses Tab until the element has the focus. Fails if it cannot be reached, or if its focus cannot be seen. */
export async function tabTo(page: Page, target: Locator): Promise<void> {
  // Found once, and again where the page has replaced it: to find a part by its role takes longer than to press a key.
  let element = await target.elementHandle();
  for (let presses = 0; presses < maxPresses; presses += 1) {
    const state = await element.evaluate((given) => {
      const { isConnected } = given as unknown as Element;
      if (!isConnected) return 'replaced';
      return (given as unknown as Element).matches(':focus') ? 'focused' : 'elsewhere';
    });
    if (state === 'focused') {
      assert.ok(
        (await page.evaluate<number>(outlineWidth)) > 0,
        `the focus of ${String(target)} cannot be seen`,
      );
      return;
    }
    if (state === 'replaced') element = await target.elementHandle();
    else await page.keyboard.press('Tab');
  }
  assert.fail(`${String(target)} cannot be reached with Tab`);
}

/** Reaches a button or a link and presses Enter on it. The focus is then somewhere in the page. */
export async function enter(
  page: Page,
  name: string | RegExp,
  role: 'button' | 'link' = 'button',
): Promise<void> {
  const all = page.getByRole(role, { name, exact: typeof name === 'string' });
  await tabTo(page, all.first());
  await page.keyboard.press('Enter');
  await keepsFocus(page, `after ${role} ${String(name)}`);
}

/** Reaches a field and types into it, in place of what is in it. */
export async function type(page: Page, label: string, value: string): Promise<void> {
  await tabTo(page, page.getByLabel(label, { exact: true }));
  await page.keyboard.press('Control+a');
  await page.keyboard.insertText(value);
}

/** Answers the question of the open dialog. */
export async function answer(page: Page, name: string): Promise<void> {
  const dialog = page.getByRole('dialog');
  await dialog.waitFor();
  assert.ok(await page.evaluate<boolean>(isInDialog), 'the dialog has the focus');
  await tabTo(page, dialog.getByRole('button', { name, exact: true }));
  await page.keyboard.press('Enter');
  await dialog.waitFor({ state: 'detached' });
  await keepsFocus(page, `after ${name} in a dialog`);
}

/** The browser may lose the focus for a moment, until the page has reacted. */
export async function keepsFocus(page: Page, when: string): Promise<void> {
  // The button that asks a question is busy until the answer, and may load something before it asks.
  await eventually(() =>
    page.evaluate<boolean>(`document.querySelector('dialog[open]') !== null || !(${isBusy})`),
  );
  await eventually(
    () => page.evaluate<boolean>(isLost),
    (lost) => !lost,
  ).catch(() => {
    assert.fail(`the focus is lost ${when}`);
  });
}
