/** What the records of each topic take on the broker's disk. */
import { readdirSync, statSync } from 'node:fs';
import path from 'node:path';

/** By topic without the prefix `tailrace.`. Segments that are removed meanwhile count as none. */
export function bytesByTopic(dataDir: string): Readonly<Record<string, number>> {
  const bytes: Record<string, number> = {};
  for (const file of readdirSync(dataDir, { recursive: true, encoding: 'utf8' })) {
    // The folder of a partition is that of its topic, a dash and its number.
    const topic = /^tailrace\.(.+)-\d+$/.exec(path.basename(path.dirname(file)))?.[1];
    if (topic === undefined || !file.endsWith('.log')) continue;
    const { size = 0 } = statSync(path.join(dataDir, file), { throwIfNoEntry: false }) ?? {};
    bytes[topic] = (bytes[topic] ?? 0) + size;
  }
  return bytes;
}
