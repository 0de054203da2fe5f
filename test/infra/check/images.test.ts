/** The Dockerfile and compose.yaml, without a Docker engine. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import path from 'node:path';
import { test } from 'node:test';
import { variablesOf } from '@tailrace/service';
import ts from 'typescript';
import type { TObject } from 'typebox';
import { parse } from 'yaml';
import { run } from '../../support/tools/command.ts';
import { toolPath } from '../../support/tools/tools.ts';
import { withDependencies } from '../../../infra/images/workspaces.ts';
import { settings as cli } from '../../../packages/cli/src/settings.ts';
import { revisionFile } from '../../../packages/service/src/metrics/process.ts';
import { settings as control } from '../../../services/control/src/settings.ts';
import { settings as delivery } from '../../../services/delivery/src/settings.ts';
import { settings as ingest } from '../../../services/ingest/src/settings.ts';
import { settings as router } from '../../../services/router/src/settings.ts';

const root = path.join(import.meta.dirname, '../../..');
const read = (file: string): string => readFileSync(path.join(root, file), 'utf8');
const dockerfile = read('infra/images/Dockerfile');
const mains = {
  ingest: 'services/ingest/src/main.ts',
  router: 'services/router/src/main.ts',
  delivery: 'services/delivery/src/main.ts',
  control: 'services/control/src/main.ts',
  cli: 'packages/cli/src/main.ts',
};
const exportsOf = new Map(
  globSync('{packages,services}/*/package.json', { cwd: root }).map((file) => {
    const manifest = JSON.parse(read(file)) as {
      name: string;
      exports?: string | Record<string, string>;
    };
    const { exports } = manifest;
    const main = typeof exports === 'object' ? exports['.'] : exports;
    return [manifest.name, path.posix.join(path.posix.dirname(file), String(main))];
  }),
);

const importsByFile = new Map<string, readonly string[]>();

/** The files of the project that Node loads for `file` itself. */
function importsOf(file: string): readonly string[] {
  const known = importsByFile.get(file);
  if (known) return known;
  if (!file.endsWith('.ts')) return [];
  const code = stripTypeScriptTypes(read(file));
  const imports = ts.preProcessFile(code, true, true).importedFiles.flatMap(({ fileName }) => {
    const target = fileName.startsWith('.')
      ? path.posix.join(path.posix.dirname(file), fileName)
      : exportsOf.get(fileName);
    return target === undefined ? [] : [target];
  });
  importsByFile.set(file, imports);
  return imports;
}

function workspaceOf(file: string): string {
  return file.split('/').slice(0, 2).join('/');
}

/** The workspaces of all files that Node loads from `main`: types are not loaded. */
function importedWorkspaces(main: string): string[] {
  const files = new Set<string>();
  const visit = (file: string): void => {
    if (files.has(file)) return;
    files.add(file);
    for (const target of importsOf(file)) visit(target);
  };
  visit(main);
  return [...new Set([...files].map(workspaceOf))].sort();
}

/** The instructions of a stage. */
function stage(name: string): string {
  return dockerfile.split(/^FROM /m).find((text) => text.split('\n', 1)[0]?.endsWith(` AS ${name}`)) ?? '';
}

test('hadolint finds nothing in the Dockerfile', async () => {
  assert.equal(await run(await toolPath('hadolint'), [path.join(root, 'infra/images/Dockerfile')]), '');
});

for (const [target, main] of Object.entries(mains)) {
  test(`the image ${target} contains the workspaces that are imported, and no other`, () => {
    const workspace = workspaceOf(main);
    for (const verb of ['install', 'keep']) {
      assert.ok(stage(`${target}-files`).includes(`RUN node workspaces.ts ${verb} ${workspace}`), verb);
    }
    assert.deepEqual(withDependencies(workspace, root), importedWorkspaces(main));
  });
}

test('the SBOM is CycloneDX, and has the dependencies of the images with their exact versions, and none of tests', async () => {
  const sbom = JSON.parse(await run('npm', ['run', '--silent', 'sbom'], { cwd: root })) as {
    bomFormat: string;
    components: { name: string; version: string }[];
  };
  assert.equal(sbom.bomFormat, 'CycloneDX');
  const listed = sbom.components.map(({ name, version }) => `${name}@${version}`);
  const folders = Object.values(mains).flatMap((main) => withDependencies(workspaceOf(main), root));
  const dependencies = [...new Set(folders)].flatMap((workspace) => {
    const manifest = JSON.parse(read(`${workspace}/package.json`)) as {
      dependencies?: Record<string, string>;
    };
    const outside = Object.entries(manifest.dependencies ?? {}).filter(
      ([name]) => !name.startsWith('@tailrace/'),
    );
    return outside.map(([name, version]) => `${name}@${version}`);
  });
  assert.ok(dependencies.some((name) => name.startsWith('kafkajs@')));
  assert.deepEqual(
    dependencies.filter((dependency) => !listed.includes(dependency)),
    [],
  );
  assert.deepEqual(
    listed.filter((name) => /^(playwright-core|testcontainers|oxlint|typescript)@/.test(name)),
    [],
  );
});

test('the only image from outside is pinned by its digest, and has the Node of package.json', () => {
  const outside = [...dockerfile.matchAll(/^FROM (?:--platform=\S+ )?(\S+)/gm)]
    .map(([, image = '']) => image)
    .filter((image) => image !== 'scratch' && !dockerfile.includes(` AS ${image}\n`));
  assert.deepEqual([...new Set(outside)], ['${NODE_IMAGE}']);
  const { devDependencies } = JSON.parse(read('package.json')) as { devDependencies: { node: string } };
  const [, version] = /^ARG NODE_IMAGE=node:(.*)-bookworm-slim@sha256:[0-9a-f]{64}$/m.exec(dockerfile) ?? [];
  assert.equal(version, devDependencies.node);
});

test('images start services with services/start.ts, which alone has the flags of Node, as a numeric user', () => {
  for (const service of ['ingest', 'router', 'delivery', 'control']) {
    assert.ok(stage(service).includes(`ENTRYPOINT ["/app/services/start.ts", "${service}"]`), service);
    assert.ok(stage(service).startsWith('runtime AS '), service);
  }
  assert.match(stage('runtime'), /^USER [1-9]\d*:[1-9]\d*$/m);
  const elsewhere = globSync(
    ['package.json', 'infra/images/*', 'infra/compose/*.yaml', 'infra/chart/templates/*'],
    { cwd: root },
  );
  for (const file of elsewhere) assert.doesNotMatch(read(file), /max-semi-space|max-old-space/, file);
});

test('images contain the file REVISION where services read it', () => {
  const inImage = path.posix.join('/app', path.relative(root, revisionFile));
  assert.equal(inImage, '/app/REVISION');
  assert.match(stage('revision'), /^ARG REVISION=unknown\nRUN echo "\$REVISION" > \/REVISION$/m);
  assert.match(stage('runtime'), /^WORKDIR \/app\nCOPY --from=revision \/REVISION \.\/$/m);
});

test('.dockerignore lets nothing through but what an image is made of', () => {
  const lines = read('.dockerignore').split('\n');
  const rules = lines.filter((line) => line !== '' && !line.startsWith('#'));
  assert.equal(rules[0], '*');
  for (const secret of ['.git', '.tailrace', '.env', '.ci', 'docs']) assert.ok(!rules.includes(`!${secret}`));
  for (const nested of ['**/node_modules', '**/.tailrace', '**/.env*']) assert.ok(rules.includes(nested));
});

test('compose.yaml sets only settings that exist', () => {
  const { services } = parse(read('infra/compose/compose.yaml'), { merge: true }) as {
    services: Record<string, { image: string; environment?: Record<string, string> }>;
  };
  const known: Record<string, TObject> = { ingest, router, delivery, control, cli };
  let checked = 0;
  for (const [name, { image, environment = {} }] of Object.entries(services)) {
    const settings = known[image.replace(/^tailrace-/, '')];
    if (!settings) continue;
    const names = variablesOf(settings).flatMap(({ env, writeOnly }) =>
      writeOnly ? [env, `${env}_FILE`] : [env],
    );
    for (const variable of Object.keys(environment)) {
      assert.ok(names.includes(variable), `${name} has no setting ${variable}`);
      checked += 1;
    }
  }
  assert.ok(checked > 10);
});
