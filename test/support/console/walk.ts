/** What a person does for a task: clicks, and fields that are filled in. The README of packages/console compares the budgets with other products. */
import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';

interface Effort {
  readonly clicks: number;
  readonly fields: number;
}

export const budgets = {
  /** From the overview of an empty installation. */
  firstDelivery: { clicks: 6, fields: 2 },
  /** From the overview to the answer of the receiver. */
  whyRefused: { clicks: 3, fields: 0 },
  illDestinations: { clicks: 1, fields: 0 },
  /** From the overview to the replay of all that a destination was sent since yesterday. */
  lostReceiver: { clicks: 4, fields: 0 },
} as const satisfies Readonly<Record<string, Effort>>;

const watch = `
  window.walked = { clicks: 0, fields: new Set() };
  window.addEventListener('pointerdown', () => { window.walked.clicks += 1; }, true);
  window.addEventListener('input', ({ target }) => {
    if (!['checkbox', 'radio'].includes(target.type)) window.walked.fields.add(target);
  }, true);
`;

/** Counts from now on. The page may not be loaded again. */
export async function startWalk(page: Page): Promise<{ endsWithin(budget: Effort): Promise<void> }> {
  await page.evaluate(watch);
  return {
    async endsWithin(budget) {
      const { clicks, fields } = await page.evaluate<Effort>(
        '({ clicks: window.walked.clicks, fields: window.walked.fields.size })',
      );
      assert.ok(clicks <= budget.clicks, `${clicks} clicks, of ${budget.clicks}`);
      assert.ok(fields <= budget.fields, `${fields} fields, of ${budget.fields}`);
    },
  };
}
