/** Keeps dependencies pointing one way, so that each part can be read, tested and replaced by itself. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { builtinModules, stripTypeScriptTypes } from 'node:module';
import path from 'node:path';
import test from 'node:test';
import ts from 'typescript';

const root = path.join(import.meta.dirname, '..');
/** Besides what starts a process: a library reads `DEBUG` where it is, as its users expect. */
const readsEnvironment =
  /^services\/[^/]+\/src\/(.+\/)?main\.ts$|^packages\/(cli\/src\/main|analytics-node\/src\/node\/platform)\.ts$/;
const isIo =
  /^(node:)?(fs|net|tls|https?|http2|dgram|dns|child_process|cluster|worker_threads|process|os)(\/|$)|^(kafkajs|undici|fastify)$/;

/** The workspace folder a file of the repository, or an import of it, lies in: `services/router`. */
function workspaceOf(file: string, specifier = `./${path.basename(file)}`): string | undefined {
  const target = specifier.startsWith('.')
    ? path.posix.join(path.posix.dirname(file), specifier)
    : workspaces.get(specifier);
  return target?.split('/').slice(0, 2).join('/');
}

const workspaces = new Map(
  globSync('{packages,services,infra}/*/package.json', { cwd: root }).map((file) => {
    const { name } = JSON.parse(readFileSync(path.join(root, file), 'utf8')) as { name: string };
    return [name, path.posix.dirname(file)];
  }),
);

/** Each rule says what it forbids: a sentence where `file` may not import `specifier`, else undefined. */
function forbidden(file: string, specifier: string): string | undefined {
  const from = workspaceOf(file);
  const to = workspaceOf(file, specifier);
  if (to !== undefined && to !== from) {
    if (!to.startsWith('packages/')) return 'only packages are imported from elsewhere';
    if (specifier.startsWith('.')) return 'another package is imported by its name';
  }
  if (/^packages\/(events|signing|oauth|errors|metrics)\//.test(file)) {
    if (isIo.test(specifier) || to === 'packages/kafka') return 'this package does no I/O';
  }
  const isForTests = /\/testing(\/|$)/;
  if (isForTests.test(specifier) && !isForTests.test(file)) return 'only tests import what is for tests';
  if (specifier === 'kafkajs' && from !== 'packages/kafka') return 'only packages/kafka knows kafkajs';
  if (
    specifier.startsWith('@opentelemetry/') &&
    !/^packages\/tracing\/src\/(sdk|export-queue)\.ts$/.test(file)
  ) {
    return 'only packages/tracing/src/sdk, which is loaded where tracing is on, knows OpenTelemetry';
  }
  if (specifier === 'undici' && !file.startsWith('packages/webhook/src/send')) {
    return 'only webhook/src/send sends HTTP';
  }
  return undefined;
}

function violations(file: string, text: string): string[] {
  const imports = ts.preProcessFile(text, true, true).importedFiles.map(({ fileName }) => fileName);
  const found = imports.flatMap((specifier) => {
    const why = forbidden(file, specifier);
    return why === undefined ? [] : [`${file} imports ${specifier}: ${why}`];
  });
  const reads = /\bprocess\s*\.\s*env\b|\bprocess\s*\[\s*['"]env['"]|\benv\b[^;]*from 'node:process'/.test(
    text,
  );
  return reads && !readsEnvironment.test(file)
    ? [...found, `${file} reads process.env: only main.ts does`]
    : found;
}

test('dependencies point from services to packages, I/O stays at the edges, only main.ts reads the environment', () => {
  const files = globSync('{packages,services}/*/{src,web}/**/*.{ts,tsx}', { cwd: root }).filter(
    (file) => !/\.test\.tsx?$/.test(file),
  );
  assert.ok(files.length > 10, 'the sources are found');
  assert.deepEqual(
    files.flatMap((file) => violations(file, readFileSync(path.join(root, file), 'utf8'))),
    [],
  );
});

test('the checker names the file and the import of every kind of violation', () => {
  const cases: [file: string, text: string, violated: boolean][] = [
    ['services/ingest/src/a.ts', `import { route } from '@tailrace/router';`, true],
    ['services/ingest/src/a.ts', `import { route } from '../../router/src/route.ts';`, true],
    [
      'services/ingest/src/a.ts',
      `import { topicNames } from '../../../packages/topology/src/index.ts';`,
      true,
    ],
    ['services/ingest/src/a.ts', `import { topicNames } from '@tailrace/topology';`, false],
    ['services/ingest/src/a.ts', `import { listen } from './server.ts';`, false],
    ['packages/config/src/a.ts', `import type { Route } from '@tailrace/router';`, true],
    ['packages/config/src/a.ts', `import { startBroker } from '@tailrace/local';`, true],
    ['packages/events/src/a.ts', `export * from 'node:fs/promises';`, true],
    ['packages/events/src/a.ts', `const http = await import('node:http');`, true],
    ['packages/errors/src/a.ts', `import { connectKafka } from '@tailrace/kafka';`, true],
    ['packages/signing/src/a.ts', `import { createHmac } from 'node:crypto';`, false],
    ['services/router/src/a.ts', `import { MemoryCluster } from '@tailrace/kafka/testing';`, true],
    ['services/router/src/a.ts', `import { openStage } from './testing/stage.ts';`, true],
    ['services/router/src/testing/a.ts', `import { MemoryCluster } from '@tailrace/kafka/testing';`, false],
    ['packages/topology/src/a.ts', `import { Kafka } from 'kafkajs';`, true],
    ['packages/kafka/src/a.ts', `import { Kafka } from 'kafkajs';`, false],
    ['services/delivery/src/pipeline.ts', `import { request } from 'undici';`, true],
    ['services/delivery/src/pipeline.ts', `import { trace } from '@opentelemetry/api';`, true],
    ['packages/tracing/src/index.ts', `import { trace } from '@opentelemetry/api';`, true],
    ['packages/tracing/src/sdk.ts', `import { trace } from '@opentelemetry/api';`, false],
    ['packages/webhook/src/send.ts', `import { request } from 'undici';`, false],
    ['services/delivery/src/settings.ts', `export const level = process.env['LOG_LEVEL'];`, true],
    ['services/delivery/src/main.ts', `export const level = process.env['LOG_LEVEL'];`, false],
  ];
  for (const [file, text, violated] of cases) {
    const found = violations(file, text);
    assert.equal(found.length, violated ? 1 : 0, `${file}: ${text}`);
    for (const sentence of found) assert.ok(sentence.startsWith(file));
  }
});

interface Manifest {
  readonly name: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

/** The packages that the text imports. Types are not loaded, so `ofTypes` says whether they count. */
function packagesIn(file: string, text: string, ofTypes: boolean): string[] {
  const code = ofTypes || file.endsWith('.tsx') ? text : stripTypeScriptTypes(text);
  return ts.preProcessFile(code, true, true).importedFiles.flatMap(({ fileName }) => {
    if (/^(\.|node:)/.test(fileName) || builtinModules.includes(fileName)) return [];
    return [fileName.split('/', fileName.startsWith('@') ? 2 : 1).join('/')];
  });
}

/** Returns what the manifest of a workspace declares too little or too much for what its files import. */
function undeclared(
  { name, dependencies = {}, devDependencies = {} }: Manifest,
  loaded: ReadonlySet<string>,
  imported: ReadonlySet<string>,
): string[] {
  const own = (packages: Iterable<string>): string[] => [...packages].filter((each) => each !== name);
  const isDevelopment = (each: string): boolean => each in devDependencies || each in tools;
  return [
    ...own(loaded).flatMap((each) => (each in dependencies ? [] : [`${name} does not declare ${each}`])),
    ...own(imported).flatMap((each) =>
      each in dependencies || isDevelopment(each) ? [] : [`${name} does not declare ${each} for development`],
    ),
    ...Object.keys(dependencies).flatMap((each) =>
      loaded.has(each) ? [] : [`${name} does not load ${each}`],
    ),
    ...Object.keys(devDependencies).flatMap((each) =>
      imported.has(each) || isPeer.test(each) ? [] : [`${name} does not import ${each}`],
    ),
  ];
}

/** Types of an imported package, and what an imported package asks for beside itself. */
const isPeer = /^@types\/|^@lezer\/(highlight|lr)$/;
const { devDependencies: tools } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as {
  readonly devDependencies: Readonly<Record<string, string>>;
};

function isGenerated(file: string): boolean {
  return /(^|\/)(node_modules|dist)(\/|$)/.test(file);
}

test('each workspace declares the packages that it imports, and no others', () => {
  const found = globSync(['{packages,services,infra}/*/package.json', 'test/package.json'], {
    cwd: root,
  }).flatMap((file) => {
    const folder = path.dirname(file);
    // What these do happens before an image is built.
    const isDevelopment = /^(infra|test)|^packages\/console$/.test(folder);
    const loaded = new Set<string>();
    const imported = new Set<string>();
    for (const each of globSync('**/*.{ts,tsx}', { cwd: path.join(root, folder), exclude: isGenerated })) {
      const text = readFileSync(path.join(root, folder, each), 'utf8');
      for (const name of packagesIn(each, text, true)) imported.add(name);
      if (isDevelopment || /\.test\.tsx?$|(^|\/)(testing|examples)\//.test(each)) continue;
      for (const name of packagesIn(each, text, false)) loaded.add(name);
    }
    const manifest = JSON.parse(readFileSync(path.join(root, file), 'utf8')) as Manifest;
    const { dependencies, devDependencies } = manifest;
    const all = isDevelopment ? { devDependencies: { ...dependencies, ...devDependencies } } : manifest;
    return undeclared({ ...all, name: manifest.name }, loaded, imported);
  });
  assert.deepEqual(found, []);
});

test('the check of manifests names what is missing, what is unused, and what is declared for tests only', () => {
  const manifest = { name: 'a', dependencies: { b: '1', c: '1' }, devDependencies: { d: '1', e: '1' } };
  assert.deepEqual(undeclared(manifest, new Set(['a', 'b', 'd']), new Set(['a', 'b', 'd', 'f'])), [
    'a does not declare d',
    'a does not declare f for development',
    'a does not load c',
    'a does not import e',
  ]);
  assert.deepEqual(
    packagesIn('a.ts', `import type { T } from 'x/y'; import '@s/p/q'; import 'node:fs';`, false),
    ['@s/p'],
  );
});

/** The import cycles among `imports`, each as a path that ends where it begins. */
function cyclesIn(imports: ReadonlyMap<string, readonly string[]>): string[] {
  const done = new Set<string>();
  const found: string[] = [];
  const visit = (file: string, trail: readonly string[]): void => {
    const at = trail.indexOf(file);
    if (at >= 0) found.push([...trail.slice(at), file].join(' → '));
    if (at >= 0 || done.has(file)) return;
    for (const imported of imports.get(file) ?? []) visit(imported, [...trail, file]);
    done.add(file);
  };
  for (const file of imports.keys()) visit(file, []);
  return found;
}

/** The files that each file imports by their path. */
function importsOf(files: readonly string[]): Map<string, readonly string[]> {
  return new Map(
    files.map((file) => {
      const text = readFileSync(path.join(root, file), 'utf8');
      const specifiers = ts.preProcessFile(text, true, true).importedFiles.map(({ fileName }) => fileName);
      const own = specifiers.filter((specifier) => specifier.startsWith('.'));
      return [file, own.map((specifier) => path.posix.join(path.posix.dirname(file), specifier))] as const;
    }),
  );
}

/** The imports among the folders of the files. */
function betweenFolders(imports: ReadonlyMap<string, readonly string[]>): Map<string, readonly string[]> {
  const folders = new Map<string, Set<string>>();
  for (const [file, imported] of imports) {
    const folder = path.posix.dirname(file);
    const others = imported.map((other) => path.posix.dirname(other)).filter((other) => other !== folder);
    folders.set(folder, new Set([...(folders.get(folder) ?? []), ...others]));
  }
  return new Map(Array.from(folders, ([folder, others]) => [folder, [...others]]));
}

test('files do not import each other in a cycle', () => {
  const files = globSync('{packages,services,infra,docs,examples,test}/**/*.{ts,tsx}', {
    cwd: root,
    exclude: isGenerated,
  });
  assert.ok(
    files.some((file) => file.startsWith('packages/console/web/')),
    'the pages of the console are found',
  );
  assert.deepEqual(cyclesIn(importsOf(files)), []);
});

test('the folders of control, of the history and of the package service do not import each other in a cycle', () => {
  const files = globSync('{services/control,packages/history,packages/service}/src/**/*.ts', { cwd: root });
  const product = files.filter((file) => !/\.test\.ts$|\/testing\//.test(file));
  assert.deepEqual(cyclesIn(betweenFolders(importsOf(product))), []);
});

test('the check of folders finds a cycle of two folders whose files have none', () => {
  const imports = new Map([
    ['a/src/b/one.ts', ['a/src/c/two.ts', 'a/src/b/three.ts']],
    ['a/src/c/two.ts', ['a/src/d.ts']],
    ['a/src/d.ts', []],
  ]);
  assert.deepEqual(cyclesIn(betweenFolders(imports)), []);
  const more = betweenFolders(new Map([...imports, ['a/src/c/four.ts', ['a/src/b/five.ts']]]));
  assert.deepEqual(cyclesIn(more), ['a/src/b → a/src/c → a/src/b']);
});

test('the check for cycles finds one, and accepts a file that two others import', () => {
  assert.deepEqual(
    cyclesIn(
      new Map([
        ['a', ['b']],
        ['b', ['c']],
        ['c', ['b']],
      ]),
    ),
    ['b → c → b'],
  );
  assert.deepEqual(
    cyclesIn(
      new Map([
        ['a', ['b', 'c']],
        ['b', ['c']],
        ['c', []],
      ]),
    ),
    [],
  );
});
