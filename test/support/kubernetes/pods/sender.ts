/** Sends events until the file `/tmp/ended` exists, each until it is accepted. Writes the users of those that were. */
import { existsSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

const [url = '', writeKey = '', name = ''] = process.argv.slice(2);

async function accepts(userId: string): Promise<boolean> {
  const body = JSON.stringify({ messageId: userId, userId, event: 'Order Completed' });
  const headers = { authorization: `Basic ${btoa(`${writeKey}:`)}` };
  return fetch(url, { method: 'POST', headers, body, signal: AbortSignal.timeout(15_000) }).then(
    ({ ok }) => ok,
    () => false,
  );
}

for (let sent = 0; !existsSync('/tmp/ended'); sent += 1) {
  const userId = `${name}-${sent}`;
  while (!(await accepts(userId))) await pause(200);
  process.stdout.write(`${userId}\n`);
  await pause(50);
}
