import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { tokenScopes } from '@tailrace/config';
import { access } from '../../services/control/src/access/table.ts';
import { roles, routeEvidence, sharing, storedSecrets } from './threat-evidence.ts';
import { threatModelPage } from './threat-model.ts';

const root = path.join(import.meta.dirname, '..', '..');

test('every test that the threat model names exists', () => {
  const named = [
    ...roles.map(([, , , evidence]) => evidence),
    ...storedSecrets.map(([, , , evidence]) => evidence),
    ...routeEvidence,
    ...Object.values(sharing),
  ];
  for (const { file, title } of named) {
    const text = readFileSync(path.join(root, file), 'utf8');
    assert.ok(text.includes(title === '' ? 'test(' : title), `${file}: ${title}`);
  }
});

test('the threat model has every scope, route and stored secret', () => {
  const page = threatModelPage();
  for (const scope of tokenScopes) assert.ok(page.includes(`scope \`${scope}\``), scope);
  for (const operation of Object.keys(access)) assert.ok(page.includes(`\`${operation}\``), operation);
  const secrets = readFileSync(path.join(root, 'packages/config/src/secrets/secrets.ts'), 'utf8');
  const sealed = [...secrets.matchAll(/\['settings', (?:'tls', )?'(\w+)'\]/g)].map(([, name = '']) => name);
  assert.ok(sealed.length >= 3);
  for (const name of sealed) assert.match(page, new RegExp(`\\b${name}\\b`));
});
