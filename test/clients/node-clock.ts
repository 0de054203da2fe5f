/**
 * Makes a call with each of the given timestamps, and one without, and closes the client. Arguments: the endpoint, the write key
 * and the timestamps. Prints its clock, in milliseconds since 1970. The same as go/clock/main.go.
 */
import { Analytics } from '../../packages/analytics-node/src/index.ts';

const [endpoint = '', writeKey = '', ...timestamps] = process.argv.slice(2);
process.stdout.write(`${Date.now()}\n`);
const client = new Analytics({ endpoint, writeKey });
for (const timestamp of timestamps) {
  client.track({ userId: 'ada', event: 'Imported', timestamp, properties: { timestamp } });
}
client.track({ userId: 'ada', event: 'Happened' });
const { unsent } = await client.close({ deadlineMs: 60_000 });
process.exitCode = unsent;
