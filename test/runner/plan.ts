/** Which jobs a command line means, in the order in which they start. */
import { globSync } from 'node:fs';
import path from 'node:path';
import { fileJob, unitJob, type Job } from './job.ts';

const unitFiles = [
  '{packages,services,infra}/*/src/**/*.test.ts',
  'packages/console/web/**/*.test.ts',
  'docs/generate/*.test.ts',
  'test/{support,bench,runner,pipeline,cli}/**/*.test.ts',
  'test/*.test.ts',
];
/**
 * The unit tests of each group share a process; those that match none are the last group. What some leave behind, such as
 * sockets that close in the background, slows others down, above all those on simulated time.
 */
const unitGroups: readonly (readonly [name: string, patterns: readonly string[]])[] = [
  ['control', ['services/control/**', 'test/pipeline/**', 'test/cli/**']],
  ['Kafka and its users', ['packages/{kafka,registry,webhook,analytics-node}/**']],
  ['ingest and router', ['services/{ingest,router}/**', 'packages/service/**']],
  ['delivery', ['services/delivery/**', 'packages/testing/**']],
  ['all else', ['**']],
];
/** In the order in which they start: what takes long first, so that the end of a run has no gap. */
const folders = ['faults', 'launcher', 'integration', 'infra/check', 'console', 'infra/quick', 'e2e'];

const command = (name: string, ...command: string[]): Job => ({ name, run: { command }, needs: [] });

const parts: Readonly<Record<string, (root: string) => readonly Job[]>> = {
  lint: () => [command('lint and types', 'oxlint', '--quiet', '.')],
  format: () => [command('format', 'oxfmt', '--check', '.')],
  unit: (root) => unitJobs(find(root, unitFiles)),
  go: () => [command('Go client library', 'node', 'test/go.ts')],
};

/** `npm run check`. */
export const checks = ['lint', 'unit', 'format'] as const;

/**
 * The jobs of what is named: a part (`lint`, `format`, `unit`, `go`, `check`), a folder or a file of tests. Without names,
 * everything but test/infra/live.
 *
 * @throws Error if a name means nothing
 */
export function planOf(names: readonly string[], root: string): readonly Job[] {
  if (names.length === 0)
    return planOf([...checks, 'go', ...folders.map((folder) => `test/${folder}`)], root);
  const jobs = names.flatMap((name): readonly Job[] => {
    if (name === 'check') return planOf(checks, root);
    const part = parts[name];
    if (part) return part(root);
    const files = find(root, name.endsWith('.ts') ? [name] : [`${name.replace(/\/$/, '')}/**/*.test.ts`]);
    if (files.length === 0)
      throw new Error(`${name} is neither a part (${known}) nor a file or folder of tests.`);
    return files.map(fileJob);
  });
  return [...new Map(jobs.map((job) => [job.name, job])).values()];
}

function unitJobs(files: readonly string[]): readonly Job[] {
  const groupOf = (file: string): string | undefined =>
    unitGroups.find(([, patterns]) => patterns.some((pattern) => path.matchesGlob(file, pattern)))?.[0];
  const byGroup = Map.groupBy(files, groupOf);
  return unitGroups.map(([name]) => unitJob(`unit tests: ${name}`, byGroup.get(name) ?? []));
}

const known = ['check', ...Object.keys(parts)].join(', ');

function find(root: string, patterns: readonly string[]): string[] {
  return globSync(patterns, { cwd: root, exclude: ['**/node_modules/**'] }).sort();
}
