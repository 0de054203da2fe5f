/** A stream of lines of JSON, as of `GET /v1/sources/{id}/calls/stream`. */
import { urlOf, connectionLost, ApiError } from './client.ts';

/** A longer line is not of the API. */
const maxLineLength = 1_000_000;

/**
 * Calls `onLine` with each line until the signal is aborted or the stream ends.
 *
 * @throws ApiError if the request is refused
 */
export async function readLines(
  path: string,
  signal: AbortSignal,
  onLine: (line: unknown) => void,
): Promise<void> {
  const answer = await fetch(urlOf(path), { signal, cache: 'no-store' }).catch((error: unknown) => {
    if (!signal.aborted) connectionLost();
    throw error;
  });
  if (!answer.ok || !answer.body) {
    throw new ApiError(answer.status, (await answer.json().catch(() => ({}))) as object);
  }
  let rest = '';
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const lines = (rest + value).split('\n');
    rest = (lines.pop() ?? '').slice(0, maxLineLength);
    for (const line of lines) if (line.trim() !== '') onLine(JSON.parse(line));
  }
}
