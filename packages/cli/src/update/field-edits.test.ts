import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UsageError } from '../command.ts';
import { applyEdits, parseEdit } from './field-edits.ts';

const entry = {
  id: 'crm',
  name: 'CRM',
  settings: { webhooks: [{ url: 'https://a.example.com/', headers: { 'X-Team': 'growth' } }] },
};
const edited = (...texts: string[]) =>
  applyEdits(
    entry,
    texts.map((text) => parseEdit(text, (value) => value.replace('env:TOKEN', 's3cret'))),
  ) as unknown;

test('fields are set, made and removed by their path, and the entry itself stays', () => {
  const before = structuredClone(entry);
  assert.deepEqual(
    edited(
      'name=null',
      'rateLimit=50',
      'paused=true',
      'settings.webhooks[0].url=https://b.example.com/?a=b',
      'settings.webhooks[0].headers.X-Team=env:TOKEN',
      'settings.webhooks[1].url=https://c.example.com/',
      'filter.types=["track"]',
      'settings.sharedSecret="5"',
    ),
    {
      id: 'crm',
      rateLimit: 50,
      paused: true,
      filter: { types: ['track'] },
      settings: {
        sharedSecret: '5',
        webhooks: [
          { url: 'https://b.example.com/?a=b', headers: { 'X-Team': 's3cret' } },
          { url: 'https://c.example.com/' },
        ],
      },
    },
  );
  assert.deepEqual(edited('settings.webhooks[0]=null'), { ...entry, settings: { webhooks: [] } });
  assert.deepEqual(entry, before);
});

test('a path that is no field is refused', () => {
  for (const text of [
    'rateLimit',
    '=5',
    'a..b=1',
    'a[x]=1',
    '__proto__.admin=true',
    'settings.constructor.x=1',
    'settings.webhooks.url=x',
    'settings.webhooks[7].url=x',
    'name[0]=x',
    'name.first=x',
    'settings[0]=x',
  ]) {
    assert.throws(() => edited(text), UsageError, text);
  }
  assert.equal(({} as Record<string, unknown>)['admin'], undefined);
});
