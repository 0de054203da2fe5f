import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { nodeFlags } from './node-flags.ts';
import { checkout } from './settings.ts';

test('a service that is started by its script gets the flags that it gets here', () => {
  const { scripts } = JSON.parse(readFileSync(join(checkout, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>;
  };
  for (const service of ['ingest', 'router', 'delivery']) {
    assert.equal(scripts[service], ['node', ...nodeFlags, `services/${service}/src/main.ts`].join(' '));
  }
});
