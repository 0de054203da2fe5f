/**
 * Writes the types of the management API, from the OpenAPI document that control serves: `npm run api:types`. They are not committed:
 * `npm ci` and each check of types write them.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { openApi } from '../../services/control/src/testing/api.ts';
import { typesOf } from '../../test/api-client/types.ts';

const file = path.join(import.meta.dirname, '../../packages/api/src/schema.d.ts');

await using control = await openApi();
const json = await control.expect(200, { path: '/openapi.json', token: null });
const text = await typesOf(json);
// A compiler that runs meanwhile does not see half a file where nothing has changed.
if (!existsSync(file) || readFileSync(file, 'utf8') !== text) writeFileSync(file, text);
