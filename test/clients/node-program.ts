/**
 * Makes numbered calls with the client for Node, as fast as it takes them, and closes it. Arguments: the endpoint and the number
 * of calls. Prints what has become of them as one line of JSON, and ends when nothing is left to do.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Analytics } from '../../packages/analytics-node/src/index.ts';
import type { ProgramReport } from './conservation.ts';

const [endpoint = '', count = ''] = process.argv.slice(2);
const isLong = Number(count) > 100_000;
const reported: string[] = [];
const analytics = new Analytics({
  writeKey: 'wk_test',
  endpoint,
  timeoutMs: isLong ? 10_000 : 250,
  // Below the default for a few thousand calls, so that they take many requests; the same in go/main.go.
  maxQueueSize: isLong ? 10_000 : 500,
  onError: ({ calls }) => {
    for (const call of calls) reported.push((JSON.parse(call) as { messageId: string }).messageId);
  },
});
let accepted = 0;
let refusedByCall = 0;
for (let n = 0; n < Number(count); n++) {
  await analytics.ready();
  // As in a server, where calls are made in many turns of the event loop.
  if (n % 50 === 0) await nextTurn();
  if (analytics.track({ userId: `u-${n % 100}`, event: 'Counted', messageId: `m-${n}`, properties: { n } }))
    accepted++;
  else refusedByCall++;
}
const { unsent } = await analytics.close({ deadlineMs: 300_000 });
const left = process.getActiveResourcesInfo().filter((name) => !/^(Pipe|TTY|FS|File)/.test(name));
const peakMegabytes = process.resourceUsage().maxRSS / 1024;
const report: ProgramReport = { accepted, refusedByCall, unsent, reported, left, peakMegabytes };
process.stdout.write(`${JSON.stringify(report)}\n`);
