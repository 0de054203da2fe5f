/**
 * Writes the types of the console's client, from the OpenAPI document that control serves: `npm run console:types`. They are not
 * committed: `npm ci` and each check of types write them.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { openApi } from '../../services/control/src/testing/api.ts';
import { typesOf } from '../../test/api-client/types.ts';

const file = path.join(import.meta.dirname, '../../packages/console/web/api/schema.d.ts');

await using control = await openApi();
const { json } = await control.ask({ path: '/openapi.json', token: null });
const text = await typesOf(json);
// A file that is written looks changed to what builds the console.
if (!existsSync(file) || readFileSync(file, 'utf8') !== text) writeFileSync(file, text);
