import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { nodeFlags } from './node-flags.ts';
import { checkout } from './settings.ts';

test('the scripts of package.json start services with the same flags', () => {
  const { scripts } = JSON.parse(readFileSync(join(checkout, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>;
  };
  for (const service of ['ingest', 'router', 'delivery']) {
    assert.equal(scripts[service], ['node', ...nodeFlags, `services/${service}/src/main.ts`].join(' '));
  }
});
