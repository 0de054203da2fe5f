import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Configuration, EntryChange } from '@tailrace/config';
import { UsageError } from '../command.ts';
import { unattended, type Terminal } from '../terminal/terminal.ts';
import { mayPrune } from './pruning.ts';

const web = { id: 'web', writeKeys: ['wk'], enabled: true };
const settings = { webhooks: [{ url: 'https://crm.example.com/' }] };
const crm = { id: 'crm', type: 'Webhooks', enabled: true, sources: [], settings } as const;
const full: Configuration = { sources: [web], destinations: [crm] };
const neither = { yes: false, all: false };

function change(kind: EntryChange['kind'], id: string, outcome: EntryChange['outcome']): EntryChange {
  return { kind, id, outcome, fields: [], differences: [] };
}

const planned = [
  change('source', 'web', 'unchanged'),
  change('destination', 'old', 'deleted'),
  change('source', 'app', 'deleted'),
];

function user(answer: boolean): { readonly terminal: Terminal; readonly questions: string[] } {
  const questions: string[] = [];
  const confirm = (question: string): Promise<boolean> => {
    questions.push(question);
    return Promise.resolve(answer);
  };
  return { terminal: { ...unattended, isAttended: true, confirm }, questions };
}

test('on a terminal the user is asked, and only the entries that were shown may be deleted', async () => {
  const yes = user(true);
  assert.deepEqual(await mayPrune(yes, full, planned, neither), new Set(['destination/old', 'source/app']));
  assert.deepEqual(yes.questions, [
    'Delete 2 entries that the file does not have: destination/old, source/app?',
  ]);
  assert.equal(await mayPrune(user(false), full, planned, neither), undefined);
});

test('without a terminal --yes is required, but not where nothing is deleted', async () => {
  const context = { terminal: unattended };
  await assert.rejects(mayPrune(context, full, planned, neither), (error: Error) => {
    assert.ok(error instanceof UsageError);
    assert.match(error.message, /would delete destination\/old, source\/app; .*--yes/);
    return true;
  });
  assert.equal((await mayPrune(context, full, planned, { yes: true, all: false }))?.size, 2);
  assert.equal((await mayPrune(context, full, planned.slice(0, 1), neither))?.size, 0);
});

test('an empty list deletes all entries of its kind only with --all', async () => {
  for (const wanted of [
    { ...full, destinations: [] },
    { ...full, sources: [] },
  ]) {
    const { terminal, questions } = user(true);
    await assert.rejects(mayPrune({ terminal }, wanted, planned, { yes: true, all: false }), /--all/);
    assert.deepEqual(questions, []);
    assert.equal((await mayPrune({ terminal }, wanted, planned, { yes: true, all: true }))?.size, 2);
  }
});
