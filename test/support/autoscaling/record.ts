/**
 * Records how late the real services are through a rise and a fall of the load, for the test of the autoscaling query:
 * `node test/support/autoscaling/record.ts`, three minutes. It writes recording.json beside itself.
 */
import { writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { ownBroker } from '../kafka/broker.ts';
import { pageOf, seriesIn, sumOf } from '../metrics/scrape.ts';
import { startPipelineOfProcesses } from '../processes/pipeline.ts';
import { startReceiver } from '../receivers/receiver.ts';
import { pace } from '../steadily.ts';
import { recordingFile, type Recording } from './recording.ts';

const phases = [
  { fromSecond: 0, perSecond: 50 },
  { fromSecond: 30, perSecond: 3_000 },
  { fromSecond: 75, perSecond: 50 },
];
const seconds = 180;

await record();

async function record(): Promise<void> {
  await using broker = await ownBroker();
  await using pipeline = await startPipelineOfProcesses({ brokers: broker.brokers });
  await using receiver = await startReceiver();
  // Several requests for each delivery, so that delivery is the first part of the pipeline that cannot follow.
  const webhooks = Array.from({ length: 5 }, (_, n) => ({ url: `${receiver.url}/${n}` }));
  const { sourceId } = await pipeline.connect({ webhooks });
  const starting = await pipeline.delivery.log.find(({ msg }) => msg === 'starting');
  const url = `http://127.0.0.1:${String(starting['metricsPort'])}`;
  const publisher = pipeline.kafka.publisher();
  const samples: [number, number, number][] = [];
  const startedAt = Date.now();
  let written = 0;
  for (let second = 0; second < seconds; second += 1) {
    const { perSecond } = phases.findLast(({ fromSecond }) => fromSecond <= second) ?? { perSecond: 0 };
    const records = Array.from({ length: perSecond }, () => {
      written += 1;
      const call = { type: 'track', event: 'Recorded', userId: `u-${written}`, messageId: `m-${written}` };
      const headers = { 'source-id': sourceId };
      return publisher.publish({
        topic: pipeline.names.events,
        key: call.userId,
        value: JSON.stringify(call),
        headers,
      });
    });
    await Promise.all(records);
    const series = seriesIn(await pageOf(url));
    const lag = sumOf(series, {
      name: 'tailrace_consumer_lag_seconds',
      labels: { topic: pipeline.names.deliveries },
    });
    const busy = sumOf(series, { name: 'tailrace_event_loop_busy_seconds_total' });
    samples.push([Math.round((Date.now() - startedAt) / 1_000), lag, busy]);
    process.stderr.write(
      `\r${second} s: ${lag.toFixed(1)} s late, ${written - receiver.requests.length / webhooks.length} open `,
    );
    await pace(Math.max(0, (second + 1) * 1_000 - (Date.now() - startedAt)));
  }
  const [cpu] = cpus();
  const recording: Recording = {
    recordedAt: new Date().toISOString(),
    machine: `${cpus().length} × ${cpu?.model ?? 'unknown'}, with broker, services, load and receiver`,
    phases,
    samples,
  };
  await writeFile(recordingFile, `${JSON.stringify(recording)}\n`);
}
