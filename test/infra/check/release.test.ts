/** infra/release.ts with stand-ins for all programs. test/infra/live has it with a registry. */
import assert from 'node:assert/strict';
import { mkdtempDisposableSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { publish, type Release, type Run } from '../../../infra/release.ts';
import { chartFolder, readChartFile } from '../../support/kubernetes/chart.ts';
import { imageDigest, standIns } from '../../support/docker/release-stand-ins.ts';

const registry = 'registry.example.com/team';
const { version } = readChartFile('Chart.yaml') as { readonly version: string };
const chartDigest = imageDigest('chart');

/** @param isPublished whether the registry has the version of the chart */
function programs(isPublished = false) {
  return standIns((program, args) => {
    const shows = program === 'helm' && args[0] === 'show';
    if (shows && !isPublished) return Promise.reject(new Error('not found'));
    return Promise.resolve({ out: program === 'npm' ? '{}' : '', err: `Digest: ${chartDigest}` });
  });
}

async function release(keys: Partial<Release> = {}) {
  using folder = mkdtempDisposableSync(path.join(tmpdir(), 'tailrace-release-'));
  const { run, calls } = programs();
  const published = await publish({ registry, revision: 'abc', folder: folder.path, ...keys }, run);
  return { published, calls };
}

test('a release has five images for two processors with SBOM and provenance, and then the chart', async () => {
  const { published, calls } = await release();
  const targets = ['ingest', 'router', 'delivery', 'control', 'cli'];
  const images = targets.map((target) => `${registry}/tailrace-${target}@${imageDigest(target)}`);
  assert.deepEqual(published, [...images, `${registry}/tailrace@${chartDigest}`]);
  const builds = calls.filter((call) => call.startsWith('docker buildx build '));
  assert.equal(builds.length, targets.length);
  for (const [index, build] of builds.entries()) {
    assert.ok(build.includes(`--tag ${registry}/tailrace-${targets[index]}:${version} `), build);
    assert.match(
      build,
      /--platform linux\/amd64,linux\/arm64 --build-arg REVISION=abc --sbom=true --provenance=true/,
    );
  }
  assert.match(calls.at(-1) ?? '', /^helm push .*\.tgz oci:\/\/registry\.example\.com\/team$/);
  assert.ok(!calls.some((call) => /cosign|--sign/.test(call)));
});

test('with keys, cosign signs each artefact and attests the SBOM of each image, and Helm signs the chart', async () => {
  const keys = { cosignKey: 'cosign.key', chartKey: 'Releases', keyring: 'ring.gpg' };
  const { published, calls } = await release(keys);
  for (const artefact of published) {
    assert.ok(calls.includes(`cosign sign --yes --key cosign.key ${artefact}`), artefact);
  }
  const attested = calls.filter((call) =>
    call.startsWith('cosign attest --yes --key cosign.key --type cyclonedx '),
  );
  assert.equal(attested.length, 5);
  assert.ok(
    calls.some(
      (call) => call.includes('helm package ') && call.endsWith('--sign --key Releases --keyring ring.gpg'),
    ),
  );
});

test('a version that is published is refused before anything is built', async () => {
  const { run, calls } = programs(true);
  const published = publish({ registry, revision: 'abc', folder: tmpdir() }, run);
  await assert.rejects(
    published,
    /has the version .*: raise version and appVersion in infra\/chart\/Chart\.yaml/,
  );
  assert.ok(!calls.some((call) => /build |push/.test(call)), calls.join('\n'));
});

test('a key that cosign cannot use is refused before anything is built', async () => {
  const calls: string[] = [];
  const run: Run = (program, args) => {
    calls.push([program, ...args].join(' '));
    if (program === 'cosign') return Promise.reject(new Error('cosign ended with 1.'));
    return Promise.resolve({ out: '', err: '' });
  };
  const published = publish({ registry, revision: 'abc', folder: tmpdir(), cosignKey: 'none.key' }, run);
  await assert.rejects(published, /cosign ended with 1/);
  assert.deepEqual(calls, ['docker buildx version', 'helm version', 'cosign public-key --key none.key']);
});

test('the version of the chart has release notes', () => {
  const notes = readFileSync(path.join(chartFolder, 'CHANGELOG.md'), 'utf8');
  assert.ok(notes.includes(`\n## ${version}\n`));
});
