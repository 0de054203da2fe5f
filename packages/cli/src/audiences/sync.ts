/** `tailrace audience sync`: sets the members of an audience from a file. */
import type { Schema } from '@tailrace/api';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { Transform, type Readable } from 'node:stream';
import type { ApiContext } from '../api/client.ts';
import { pathOf } from '../api/path.ts';
import { done, waitFor, type Work } from '../api/show.ts';
import { exitCodes, UsageError, type CommandContext, type Outcome } from '../command.ts';
import { countOf, formatCount, printable } from '../terminal/table.ts';

const contentTypes = { ndjson: 'application/x-ndjson', csv: 'text/csv' } as const;

interface Values {
  readonly source: string;
  readonly name: string;
  readonly file: string;
  readonly format?: keyof typeof contentTypes;
  readonly rate?: number;
  readonly allowEmpty?: boolean;
  readonly dryRun?: boolean;
}

export async function syncAudience(values: Values, context: ApiContext): Promise<Outcome> {
  const { source, name, file, rate, allowEmpty, dryRun } = values;
  const signal = context.terminal.interruption();
  const format = values.format ?? (path.extname(file).toLowerCase() === '.csv' ? 'csv' : 'ndjson');
  const content = await openFile(file, context);
  signal.addEventListener('abort', () => content.destroy());
  const { api } = context;
  const audiencePath = pathOf('sources', source, 'audiences', name);
  let sync: Schema['AudienceSync'];
  try {
    const query = { ratePerSecond: rate, ...(allowEmpty && { allowEmpty }), ...(dryRun && { dryRun }) };
    if (dryRun) {
      return previewed(
        await api.upload<Schema['AudiencePreview']>(audiencePath, content, contentTypes[format], query),
      );
    }
    sync = await api.upload<Schema['AudienceSync']>(audiencePath, content, contentTypes[format], query);
  } catch (error) {
    if (!signal.aborted) throw error;
    return interrupted();
  }
  const work: Work<Schema['AudienceSync']> = {
    isRunning: ({ state }) => state === 'running',
    progressOf: ({ sent, total }) =>
      total === undefined ? 'Comparing' : `Sent ${formatCount(sent)} of ${formatCount(total)} changes`,
    load: async () => (await api.get<Schema['Audience']>(audiencePath)).sync,
    outcomeOf,
    interrupted,
  };
  return waitFor(sync, work, context.terminal, signal);
}

function previewed(preview: Schema['AudiencePreview']): Outcome {
  const { added, removed, joining, leaving } = preview;
  const users = (count: number, first: readonly string[], change: string): string => {
    const named = first.map(printable).join(', ');
    const more = count > first.length ? ' and others' : '';
    return `${countOf(count, 'user')} would ${change}${count > 0 ? `: ${named}${more}` : ''}.`;
  };
  return done(
    [users(added, joining, 'join'), users(removed, leaving, 'leave'), 'Dry run, nothing was changed.'],
    preview,
  );
}

function interrupted(): Outcome {
  return {
    exitCode: exitCodes.interrupted,
    text: ['Interrupted. The same command with the same file continues.'],
    json: { state: 'interrupted' },
  };
}

/** Opens the file, and shows the progress of reading it. */
async function openFile(file: string, { input, terminal }: CommandContext): Promise<Readable> {
  let bytes = 0;
  let total: number | undefined;
  if (file !== '-') {
    const found = await stat(file).catch((error: unknown) => {
      throw new UsageError(`${file}: ${(error as Error).message}`);
    });
    if (found.isDirectory()) throw new UsageError(`${file} is a folder; name a file`);
    if (found.isFile()) total = found.size;
  }
  const mb = (count: number): string => (count / 1_000_000).toFixed(1);
  const counted = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      terminal.progress(`Sending: ${mb(bytes)}${total === undefined ? '' : ` of ${mb(total)}`} MB`);
      done(null, chunk);
    },
  });
  const read = file === '-' ? input() : createReadStream(file);
  read.once('error', (error: Error) => counted.destroy(error));
  return read.pipe(counted);
}

function outcomeOf(sync: Schema['AudienceSync']): Outcome {
  const { state, members, added = 0, removed = 0, sent, problem } = sync;
  const why = problem === undefined ? '' : ` ${problem.message}`;
  return {
    exitCode: state === 'done' ? exitCodes.done : exitCodes.failed,
    text: [
      state === 'done'
        ? `${countOf(members, 'member')}: ${formatCount(added)} joined, ${formatCount(removed)} left, ${formatCount(sent)} sent.`
        : printable(
            `The sync ${state === 'failed' ? 'failed' : 'was interrupted'}; the same command continues it.${why}`,
          ),
    ],
    json: sync,
  };
}
