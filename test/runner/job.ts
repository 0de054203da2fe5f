/** What a run consists of: commands, unit tests that share a process, and test files, each in a process of its own. */
import path from 'node:path';
import { limitMs } from '@tailrace/testing';

/** What must be there before a job starts; the runner provides each once. */
export type Need = 'kafka' | 'clients' | 'browser' | 'tools' | 'API types';

export interface Job {
  readonly name: string;
  /** A program and its arguments, which may run tests of its own, or the flags and files of a process of `node --test`. */
  readonly run:
    | { readonly command: readonly string[]; readonly runsTests?: boolean }
    | { readonly flags: readonly string[]; readonly files: readonly string[] };
  readonly needs: readonly Need[];
  /** Whether it waits more than it computes. */
  readonly waits?: boolean;
}

/** The Kafka client computes timeouts below zero, which Node 24 warns of and takes as 1 ms, as was meant. */
const flags = ['--disable-warning=TimeoutNegativeWarning'];

/** A unit test that hangs is named, and the others of its process still run. */
const inOneProcess = [`--test-timeout=${2 * limitMs}`, path.join(import.meta.dirname, 'group.ts')];

/** A test file in a process of its own. `file` is relative to the checkout. */
export function fileJob(file: string): Job {
  return { name: file, run: { flags, files: [file] }, needs: needsOf(file) };
}

/** Test files in one process: to start one for each costs more than the tests do, or they share what is expensive. */
export function groupJob(name: string, files: readonly string[]): Job {
  return { name, run: { flags: [...flags, ...inOneProcess], files }, needs: needsOf(files[0] ?? '') };
}

function needsOf(file: string): readonly Need[] {
  const [top = '', folder = '', part = ''] = file.split(path.posix.sep);
  if (top !== 'test') return [];
  if (folder === 'infra') return part === 'quick' || part === 'live' ? ['kafka', 'tools'] : ['tools'];
  return needs[folder] ?? [];
}

/** By folder or file under test. Others need nothing. */
const needs: Readonly<Record<string, readonly Need[]>> = {
  integration: ['kafka', 'clients'],
  e2e: ['kafka', 'clients'],
  faults: ['kafka'],
  launcher: ['kafka'],
  console: ['browser'],
  'api-client.slow.test.ts': ['API types'],
};
