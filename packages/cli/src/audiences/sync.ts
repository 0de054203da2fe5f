/** `tailrace audience sync`: sets or changes the members of an audience from a file, or sends them to one destination. */
import type { Schema } from '@tailrace/api';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { Readable, Transform } from 'node:stream';
import type { ApiContext } from '../api/client.ts';
import { pathOf } from '../api/path.ts';
import { done, waitFor, type Work } from '../api/show.ts';
import { exitCodes, UsageError, type CommandContext, type Outcome } from '../command.ts';
import { countOf, formatCount, printable } from '../terminal/table.ts';

const contentTypes = { ndjson: 'application/x-ndjson', csv: 'text/csv' } as const;

interface Values {
  readonly source: string;
  readonly name: string;
  readonly file?: string;
  readonly changes?: boolean;
  readonly destination?: string;
  readonly format?: keyof typeof contentTypes;
  readonly rate?: number;
  readonly allowEmpty?: boolean;
  readonly dryRun?: boolean;
}

export async function syncAudience(values: Values, context: ApiContext): Promise<Outcome> {
  const { source, name, destination, dryRun } = values;
  const signal = context.terminal.interruption();
  const { api } = context;
  const audiencePath = pathOf('sources', source, 'audiences', name);
  const request = await requestOf(audiencePath, values, context, signal);
  let sync: Schema['AudienceSync'];
  try {
    if (dryRun) return previewed(await request<Schema['AudiencePreview']>(), destination);
    sync = await request<Schema['AudienceSync']>();
  } catch (error) {
    if (!signal.aborted) throw error;
    return interrupted();
  }
  const work: Work<Schema['AudienceSync']> = {
    isRunning: ({ state }) => state === 'running',
    progressOf: ({ sent, total }) =>
      total === undefined ? 'Comparing' : `Sent ${formatCount(sent)} of ${formatCount(total)} changes`,
    load: async (before) => {
      const { sync: latest } = await api.get<Schema['Audience']>(audiencePath);
      return latest.id === before.id ? latest : { ...before, state: 'interrupted', problem: takenOver };
    },
    outcomeOf,
    interrupted,
  };
  return waitFor(sync, work, context.terminal, signal);
}

const takenOver = { code: 'superseded', message: 'A later sync of this audience has taken over.' };

/** The request that starts the sync, or previews it. @throws UsageError */
async function requestOf(
  audiencePath: string,
  { file, changes, destination, rate, allowEmpty, dryRun, ...values }: Values,
  context: ApiContext,
  signal: AbortSignal,
): Promise<<Answer>() => Promise<Answer>> {
  const { api } = context;
  const query = {
    ratePerSecond: rate,
    destination,
    ...(allowEmpty && { allowEmpty }),
    ...(dryRun && { dryRun }),
  };
  if (destination !== undefined) {
    if (file !== undefined || changes || allowEmpty) {
      throw new UsageError(
        '--destination sends the present members: give no file, --changes or --allow-empty',
      );
    }
    // All members are read for a preview, which may take longer than other requests.
    const nothing = { content: Readable.from([]), contentType: contentTypes.ndjson, query };
    return () => api.upload('PUT', audiencePath, nothing);
  }
  if (file === undefined) throw new UsageError('name the file with the members, or a --destination');
  if (changes && allowEmpty) throw new UsageError('--allow-empty is for whole lists, not for --changes');
  const format = values.format ?? (path.extname(file).toLowerCase() === '.csv' ? 'csv' : 'ndjson');
  const content = await openFile(file, context);
  signal.addEventListener('abort', () => content.destroy());
  const upload = { content, contentType: contentTypes[format], query };
  return () => api.upload(changes ? 'PATCH' : 'PUT', audiencePath, upload);
}

function previewed(preview: Schema['AudiencePreview'], destination: string | undefined): Outcome {
  const { added, removed, joining, leaving } = preview;
  const users = (count: number, first: readonly string[], change: string): string => {
    const named = first.map(printable).join(', ');
    const more = count > first.length ? ' and others' : '';
    return `${countOf(count, 'user')} would ${change}${count > 0 ? `: ${named}${more}` : ''}.`;
  };
  const lines =
    destination === undefined
      ? [users(added, joining, 'join'), users(removed, leaving, 'leave')]
      : [users(added, joining, `be sent to ${destination}`)];
  return done([...lines, 'Dry run, nothing was changed.'], preview);
}

function interrupted(): Outcome {
  return {
    exitCode: exitCodes.interrupted,
    text: ['Interrupted. The same command continues with the rest.'],
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
  const { kind, state, members, added = 0, removed = 0, sent, destination, problem } = sync;
  const why = problem === undefined ? '' : ` ${problem.message}`;
  return {
    exitCode: state === 'done' ? exitCodes.done : exitCodes.failed,
    text: [
      state === 'done'
        ? kind === 'send'
          ? printable(`${countOf(sent, 'member')} sent to ${destination ?? ''}.`)
          : `${countOf(members, kind === 'change' ? 'user' : 'member')}: ${formatCount(added)} joined, ${formatCount(removed)} left, ${formatCount(sent)} sent.`
        : printable(
            `The sync ${state === 'failed' ? 'failed' : 'was interrupted'}; the same command continues it.${why}`,
          ),
    ],
    json: sync,
  };
}
