/** Which jobs a command line means, in the order in which they start. */
import { globSync } from 'node:fs';
import path from 'node:path';
import { fileJob, groupJob, type Job, type Need } from './job.ts';

const unitFiles = [
  '{packages,services,infra}/*/src/**/*.test.ts',
  'packages/console/web/**/*.test.ts',
  'docs/generate/**/*.test.ts',
  'test/{support,bench,runner,campaign}/**/*.test.ts',
  'test/*.test.ts',
];
/** Tests that start processes, cost more than a second, or need a process of their own: `npm run check` leaves them out. */
const slow = '**/*.slow.test.ts';
const inMemory = 'test/{pipeline,cli}/**/*.test.ts';
const others = 'all else';
/**
 * The unit tests of each group share a process, in the order in which they start. What some leave behind, such as sockets
 * that close in the background, slows others down, above all those on simulated time.
 */
const unitGroups: readonly (readonly [name: string, patterns: readonly string[]])[] = [
  ['work of control', ['services/control/src/{audiences,calls,deletions,history,notifications,replays}/**']],
  ['control', ['services/control/**', 'test/api-document.test.ts']],
  ['delivery', ['services/delivery/**', 'packages/testing/**']],
  ['Kafka', ['packages/kafka/**']],
  [others, []],
  ['ingest and router', ['services/{ingest,router}/**', 'packages/service/**']],
  ['clients and webhooks', ['packages/{analytics-node,registry,webhook}/**']],
];
/** They share what helm has rendered. */
const chart = 'test/infra/check/chart-*.test.ts';
/** Of each, what takes long comes first, so that the end of a run has no gap. */
const waiting = [
  'test/faults',
  'test/launcher',
  ...['kafka-contract', 'control', 'delivery', 'readiness', 'router-killed'].map(
    (name) => `test/integration/${name}.test.ts`,
  ),
  'test/integration',
];
const computing = ['test/infra/check', 'test/console', 'test/infra/quick', 'test/e2e'];

const command = (name: string, needs: readonly Need[], ...command: string[]): Job => ({
  name,
  run: { command },
  needs,
});

const parts: Readonly<Record<string, (root: string) => readonly Job[]>> = {
  // By default the garbage collector takes a fifth of its processor time.
  lint: () => [command('lint and types', ['API types'], 'env', 'GOGC=400', 'oxlint', '--quiet', '.')],
  format: () => [command('format', [], 'oxfmt', '--check', '.')],
  unit: (root) => unitJobs(withoutSlow(find(root, unitFiles))),
  slow: (root) => [
    groupJob('services together, and the command line', withoutSlow(find(root, [inMemory]))),
    ...find(root, [slow]).map(fileJob),
  ],
  go: () => [
    { name: 'Go client library', run: { command: ['node', 'test/go.ts'], runsTests: true }, needs: [] },
  ],
};

/** `npm run check`. */
export const checks = ['unit', 'lint', 'format'] as const;

/**
 * The jobs of what is named: a part (`lint`, `format`, `unit`, `go`, `check`), a folder or a file of tests. Without names,
 * everything but test/infra/live and test/infra/cluster.
 *
 * @throws Error if a name means nothing
 */
export function planOf(names: readonly string[], root: string): readonly Job[] {
  if (names.length === 0)
    return [
      ...planOf([...checks, 'slow', 'go'], root),
      ...planOf(computing, root),
      ...planOf(waiting, root).map((job) => ({ ...job, waits: true })),
    ];
  const jobs = names.flatMap((name): readonly Job[] => {
    if (name === 'check') return planOf(checks, root);
    const part = parts[name];
    if (part) return part(root);
    const files = find(root, name.endsWith('.ts') ? [name] : [`${name.replace(/\/$/, '')}/**/*.test.ts`]);
    if (files.length === 0)
      throw new Error(`${name} is neither a part (${known}) nor a file or folder of tests.`);
    const ofChart = files.filter((file) => path.matchesGlob(file, chart));
    if (ofChart.length <= 1) return files.map(fileJob);
    return [groupJob('chart', ofChart), ...files.filter((file) => !ofChart.includes(file)).map(fileJob)];
  });
  return [...new Map(jobs.map((job) => [job.name, job])).values()];
}

function unitJobs(files: readonly string[]): readonly Job[] {
  const groupOf = (file: string): string =>
    unitGroups.find(([, patterns]) => patterns.some((pattern) => path.matchesGlob(file, pattern)))?.[0] ??
    others;
  const byGroup = Map.groupBy(files, groupOf);
  return unitGroups.map(([name]) => groupJob(`unit tests: ${name}`, byGroup.get(name) ?? []));
}

function withoutSlow(files: readonly string[]): readonly string[] {
  return files.filter((file) => !path.matchesGlob(file, slow));
}

const known = ['check', ...Object.keys(parts)].join(', ');

function find(root: string, patterns: readonly string[]): string[] {
  return globSync(patterns, { cwd: root, exclude: ['**/node_modules/**'] }).sort();
}
