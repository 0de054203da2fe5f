/** The address of ingest, as far as the console knows it. */
import { session } from '../../api/session.ts';
import { defaultEndpoint } from './snippets.ts';

export function knownEndpoint(): string {
  const { ingestUrl, ingestPort = 0 } = session.value ?? {};
  return ingestUrl ?? defaultEndpoint(new URL(document.baseURI), ingestPort);
}
