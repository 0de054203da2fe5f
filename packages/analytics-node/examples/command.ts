/**
 * A command that imports calls, one JSON object with `userId`, `event`, `properties` and `timestamp` on each line of
 * standard input: `node command.ts < calls.ndjson`. It holds a bounded number of calls, and exits with 1 where one
 * of them was not sent.
 */
import { createInterface } from 'node:readline';
import { Analytics, type Track } from '@tailrace/analytics-node';

const { TAILRACE_ENDPOINT: endpoint = 'http://127.0.0.1:8080', WRITE_KEY: writeKey = 'wk_demo' } =
  process.env;

const analytics = new Analytics({
  writeKey,
  endpoint,
  gzip: true,
  onError: ({ message, calls }) => {
    console.error(message, calls);
  },
});

let invalid = 0;
for await (const line of createInterface(process.stdin)) {
  await analytics.ready();
  try {
    analytics.track(JSON.parse(line) as Track);
  } catch (error) {
    invalid++;
    console.error(`${line}: ${(error as Error).message}`);
  }
}

const { unsent } = await analytics.close({ deadlineMs: 600_000 });
const { sent } = analytics.stats();
console.log(`${sent} calls sent, ${unsent} unsent, ${invalid} invalid`);
process.exitCode = unsent + invalid === 0 ? 0 : 1;
