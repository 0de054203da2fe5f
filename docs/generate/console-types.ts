/** The types of the console's client, from the OpenAPI document that control serves. */
import { openApi } from '../../services/control/src/testing/api.ts';
import { typesOf } from '../../test/api-client/types.ts';

export async function consoleTypes(): Promise<string> {
  await using control = await openApi();
  const { json } = await control.ask({ path: '/openapi.json', token: null });
  return `/* Generated from the OpenAPI document of control: npm run docs console-types */\n\n${await typesOf(json)}`;
}
