import openapiTs, { astToString } from 'openapi-typescript';

/** The declarations that openapi-typescript generates with its default options. */
export async function typesOf(document: object): Promise<string> {
  return astToString(await openapiTs(structuredClone(document) as Parameters<typeof openapiTs>[0]));
}
