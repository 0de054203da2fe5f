/** A stream of lines of JSON. */
import assert from 'node:assert/strict';
import { collect, type Collected } from '@tailrace/testing';

export interface LineStream<Line> extends Collected<Line> {
  leave(): void;
}

export async function openLines<Line>(url: string, token: string): Promise<LineStream<Line>> {
  const ending = new AbortController();
  const headers = { authorization: `Bearer ${token}` };
  const answer = await fetch(url, { headers, signal: ending.signal });
  assert.equal(answer.status, 200);
  const lines = collect<Line>(`the stream ${url}`, (line) => JSON.stringify(line));
  let rest = '';
  const read = (chunk: string): void => {
    const parts = (rest + chunk).split('\n');
    rest = parts.pop() ?? '';
    for (const part of parts) if (part !== '') lines.add(JSON.parse(part) as Line);
  };
  answer.body
    ?.pipeThrough(new TextDecoderStream())
    .pipeTo(new WritableStream({ write: read }))
    .catch(() => undefined);
  return {
    ...lines,
    leave() {
      ending.abort();
    },
  };
}
