/** `tailrace config export`: writes the configuration into a sealed file. */
import { chmodSync, closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { formatInstant } from '@tailrace/events';
import { readConfiguration, writeExport } from '@tailrace/config';
import { TailraceError } from '@tailrace/errors';
import { readSettings } from '@tailrace/service';
import { topicNames } from '@tailrace/topology';
import packageJson from '../../package.json' with { type: 'json' };
import type { Run } from '../command.ts';
import { withKafka } from '../kafka.ts';
import { exportSettings } from '../settings.ts';
import { countOf } from '../terminal/table.ts';

interface Values {
  readonly file: string;
  readonly allowEmpty?: boolean;
  readonly skipUnreadable?: boolean;
}

export const exportConfiguration: Run<Values> = async (
  { file, allowEmpty = false, skipUnreadable = false },
  context,
) => {
  const { passphrase } = readSettings(context.env, exportSettings);
  const { text, counts, skipped } = await withKafka(context, async (kafka, { prefix }, keys) => {
    const stored = await readConfiguration(kafka, topicNames(prefix).config, keys);
    const { sources, destinations, notifications, unreadable } = stored;
    const problems = [...unreadable].map(([key, problem]) => `${key}: ${problem}`);
    if (problems.length > 0 && !skipUnreadable) throw unreadableEntries(problems);
    if (sources.length + destinations.length + notifications.length === 0 && !allowEmpty)
      throw emptyConfiguration(prefix);
    const origin = {
      createdAt: formatInstant(Date.now()),
      release: packageJson.version,
      cluster: await kafka.clusterId(),
      prefix,
    };
    return {
      text: await writeExport(stored, origin, { keys, passphrase }),
      counts: { sources: sources.length, destinations: destinations.length },
      skipped: problems,
    };
  });
  for (const problem of skipped) context.warn(`Left out: ${problem}.`);
  if (file === '-') return { text: [], raw: Buffer.from(text), json: undefined };
  replaceFile(file, text);
  const sealedWith = passphrase === undefined ? 'secret-key' : 'passphrase';
  const key = passphrase === undefined ? 'TAILRACE_SECRET_KEY' : 'TAILRACE_EXPORT_PASSPHRASE';
  return {
    text: [
      `${countOf(counts.sources, 'source')} and ${countOf(counts.destinations, 'destination')} exported to ${file}.`,
      `It opens only with ${key}, which must be kept in another place.`,
    ],
    json: { file, ...counts, sealedWith, skipped: skipped.length },
  };
};

function unreadableEntries(problems: readonly string[]): TailraceError {
  const hint = 'Apply these entries again or delete them, or export the others with --skip-unreadable.';
  const message = ['Entries cannot be read, and nothing was exported:', ...problems, hint].join('\n');
  return new TailraceError('invalid-configuration', message);
}

function emptyConfiguration(prefix: string): TailraceError {
  return new TailraceError(
    'invalid-configuration',
    `The topic ${topicNames(prefix).config} has no sources and destinations, and nothing was exported. ` +
      'Check KAFKA_BROKERS and TAILRACE_TOPIC_PREFIX, or use --allow-empty.',
  );
}

/** Readable by this user only. The former file stays until the new one is complete on the disk. */
function replaceFile(file: string, text: string): void {
  const temporary = `${file}.${process.pid}.tmp`;
  try {
    const descriptor = openSync(temporary, 'w', 0o600);
    try {
      writeFileSync(descriptor, text);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    chmodSync(temporary, 0o600);
    renameSync(temporary, file);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw new TailraceError('invalid-export', `${file} cannot be written: ${(error as Error).message}`);
  }
}
