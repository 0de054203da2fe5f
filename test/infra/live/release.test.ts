/** infra/release.ts with a registry and Helm. Docker and cosign are stand-ins, so no image is in the registry. */
import assert from 'node:assert/strict';
import { mkdtempDisposableSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { publish } from '../../../infra/release.ts';
import { startRegistry } from '../../support/docker/registry.ts';
import { imageDigest, standIns } from '../../support/docker/release-stand-ins.ts';
import { chartFolder, readChartFile } from '../../support/kubernetes/chart.ts';
import { notRun } from '../../support/not-run.ts';
import { runToEnd } from '../../support/tools/command.ts';
import { toolPath } from '../../support/tools/tools.ts';

const { version } = readChartFile('Chart.yaml') as { readonly version: string };

interface Keyrings {
  readonly secret: string;
  readonly public: string;
}

/** A key of PGP named Releases. */
async function makeKeyrings(folder: string): Promise<Keyrings> {
  const home = mkdtempDisposableSync(path.join(folder, 'gpg-'));
  const env = { GNUPGHOME: home.path };
  const gpg = (...args: readonly string[]) =>
    runToEnd('gpg', ['--batch', '--passphrase', '', '--pinentry-mode', 'loopback', ...args], { env });
  const keyrings = { secret: path.join(folder, 'secret.gpg'), public: path.join(folder, 'public.gpg') };
  await gpg('--quick-gen-key', 'Releases', 'rsa2048', 'sign', 'never');
  await gpg('--output', keyrings.secret, '--export-secret-keys');
  await gpg('--output', keyrings.public, '--export');
  await runToEnd('gpgconf', ['--kill', 'all'], { env });
  return keyrings;
}

test('a release is published once, and Helm 3 and 4 pull its signed chart, which names the images by digest', async (t) => {
  using folder = mkdtempDisposableSync(path.join(tmpdir(), 'tailrace-release-'));
  const keyrings = await makeKeyrings(folder.path).catch((error: unknown) => String(error));
  if (typeof keyrings === 'string') {
    notRun(t, `it needs gpg: ${keyrings}`);
    return;
  }
  await using server = await startRegistry(folder.path);
  const registry = `${server.host}/team`;
  const { run } = standIns(async (program, args) =>
    runToEnd(program === 'helm' ? await toolPath('helm') : program, args, {
      cwd: path.join(chartFolder, '../..'),
    }),
  );
  const output = path.join(folder.path, 'output');
  const release = {
    registry,
    revision: 'abc',
    folder: output,
    chartKey: 'Releases',
    keyring: keyrings.secret,
  };
  const published = await publish(release, run);
  assert.match(published.at(-1) ?? '', /\/team\/tailrace@sha256:[0-9a-f]{64}$/);
  const sbom = JSON.parse(readFileSync(path.join(output, `tailrace-${version}.cdx.json`), 'utf8')) as object;
  assert.partialDeepStrictEqual(sbom, { bomFormat: 'CycloneDX' });
  await assert.rejects(publish(release, run), /has the version/);

  for (const tool of ['helm', 'helm-3'] as const) {
    const helm = await toolPath(tool);
    const pulled = mkdtempDisposableSync(path.join(folder.path, 'pulled-')).path;
    const chart = [`oci://${registry}/tailrace`, '--version', version, '--plain-http'];
    await runToEnd(helm, [
      'pull',
      ...chart,
      '--verify',
      '--keyring',
      keyrings.public,
      '--destination',
      pulled,
    ]);
    const archive = path.join(pulled, `tailrace-${version}.tgz`);
    const values = path.join(chartFolder, 'ci/default.yaml');
    const { out } = await runToEnd(helm, ['template', 'tailrace', archive, '--values', values]);
    const images = new Set(Array.from(out.matchAll(/image: "?([^"\n]+)/g), ([, image]) => image));
    const expected = ['ingest', 'router', 'delivery', 'control', 'cli'].map(
      (target) => `${registry}/tailrace-${target}:${version}@${imageDigest(target)}`,
    );
    assert.deepEqual([...images].sort(), expected.sort());
    writeFileSync(archive, 'other');
    await assert.rejects(runToEnd(helm, ['verify', archive, '--keyring', keyrings.public]));
  }
});
