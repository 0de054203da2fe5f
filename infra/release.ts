/**
 * Publishes a release in a registry: the images for two processors, each with an SBOM and its provenance, and then the chart, which names
 * the registry and the digests of the images.
 *
 *   node infra/release.ts <registry> <folder> [--cosign-key <key>] [--chart-key <name> --keyring <file>]
 *
 * The folder gets the chart and the SBOM of the npm packages. With a key for cosign the images and the chart are signed, and the images
 * attest the SBOM; with a key of PGP the chart has a provenance file, for `helm --verify`.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { parseArgs } from 'node:util';

const root = path.join(import.meta.dirname, '..');
const targets = ['ingest', 'router', 'delivery', 'control', 'cli'] as const;
const platforms = 'linux/amd64,linux/arm64';

export interface Release {
  /** With the path, such as `registry.example.com/team`. */
  readonly registry: string;
  /** The commit of the checkout. */
  readonly revision: string;
  readonly folder: string;
  /** For cosign: a file, or the address of a key in a service. */
  readonly cosignKey?: string | undefined;
  /** The name of a key in the keyring. */
  readonly chartKey?: string | undefined;
  readonly keyring?: string | undefined;
}

/** Runs a program in the checkout; resolves with what it writes. Rejects if it fails. */
export type Run = (
  program: string,
  args: readonly string[],
) => Promise<{ readonly out: string; readonly err: string }>;

/**
 * Resolves with what was published, by digest, the chart last.
 *
 * @throws Error where the version of the chart is in the registry, or a program fails
 */
export async function publish(release: Release, run: Run): Promise<string[]> {
  const { registry, folder } = release;
  const manifest = readFileSync(path.join(root, 'infra/chart/Chart.yaml'), 'utf8');
  const [, version = ''] = /^version: (.+)$/m.exec(manifest) ?? [];
  const [, appVersion = ''] = /^appVersion: (.+)$/m.exec(manifest) ?? [];
  const chart = `oci://${registry}/tailrace`;
  await checkPrograms(release, run);
  const shown = await run('helm', [
    'show',
    'chart',
    chart,
    '--version',
    version,
    ...transport(release),
  ]).catch(() => undefined);
  if (shown !== undefined) {
    throw new Error(
      `${chart} has the version ${version}: raise version and appVersion in infra/chart/Chart.yaml.`,
    );
  }
  mkdirSync(folder, { recursive: true });
  const sbom = path.join(folder, `tailrace-${appVersion}.cdx.json`);
  writeFileSync(sbom, (await run('npm', ['run', '--silent', 'sbom'])).out);
  const digests: Record<string, string> = {};
  const published: string[] = [];
  for (const target of targets) {
    const digest = await pushImage(release, target, appVersion, run);
    const image = `${registry}/tailrace-${target}@${digest}`;
    await sign(release, image, run, sbom);
    digests[target] = digest;
    published.push(image);
  }
  const pushed = `${registry}/tailrace@${await pushChart(release, version, digests, run)}`;
  await sign(release, pushed, run);
  return [...published, pushed];
}

/** Rejects before anything is published: once the chart is, the release cannot be repeated. */
async function checkPrograms({ cosignKey }: Release, run: Run): Promise<void> {
  await run('docker', ['buildx', 'version']);
  await run('helm', ['version']);
  if (cosignKey !== undefined) await run('cosign', ['public-key', '--key', cosignKey]);
}

/** Signs an artefact where there is a key for cosign, and lets it attest the SBOM. */
async function sign({ cosignKey }: Release, artefact: string, run: Run, sbom?: string): Promise<void> {
  if (cosignKey === undefined) return;
  const key = ['--yes', '--key', cosignKey];
  await run('cosign', ['sign', ...key, artefact]);
  if (sbom === undefined) return;
  await run('cosign', ['attest', ...key, '--type', 'cyclonedx', '--predicate', sbom, artefact]);
}

/** A registry on this machine has no TLS. */
function transport({ registry }: Release): string[] {
  return /^(localhost|127\.0\.0\.1)[:/]/.test(registry) ? ['--plain-http'] : [];
}

/** Resolves with the digest of the image for all platforms. */
async function pushImage(
  { registry, revision, folder }: Release,
  target: string,
  tag: string,
  run: Run,
): Promise<string> {
  const metadata = path.join(folder, `${target}.json`);
  const source = ['--file', 'infra/images/Dockerfile', '--target', target, '--platform', platforms];
  const about = ['--build-arg', `REVISION=${revision}`, '--sbom=true', '--provenance=true'];
  const result = ['--tag', `${registry}/tailrace-${target}:${tag}`, '--metadata-file', metadata, '--push'];
  await run('docker', ['buildx', 'build', ...source, ...about, ...result, '.']);
  const described = JSON.parse(readFileSync(metadata, 'utf8')) as {
    readonly 'containerimage.digest': string;
  };
  return described['containerimage.digest'];
}

/** Resolves with the digest of the chart. */
async function pushChart(
  release: Release,
  version: string,
  digests: Readonly<Record<string, string>>,
  run: Run,
): Promise<string> {
  const { registry, folder, chartKey, keyring = '' } = release;
  const chart = path.join(folder, 'chart');
  cpSync(path.join(root, 'infra/chart'), chart, { recursive: true });
  const file = path.join(chart, 'values.yaml');
  const pinned = Object.entries(digests).map(([target, digest]) => `${target}: '${digest}'`);
  const values = readFileSync(file, 'utf8')
    .replace("\n  registry: ''\n", `\n  registry: ${registry}\n`)
    .replace(/\n {2}digests: \{.*\}\n/, `\n  digests: { ${pinned.join(', ')} }\n`);
  writeFileSync(file, values);
  const signed = chartKey === undefined ? [] : ['--sign', '--key', chartKey, '--keyring', keyring];
  await run('helm', ['package', chart, '--destination', folder, ...signed]);
  rmSync(chart, { recursive: true });
  const archive = path.join(folder, `tailrace-${version}.tgz`);
  const { out, err } = await run('helm', ['push', archive, `oci://${registry}`, ...transport(release)]);
  const [digest] = /sha256:[0-9a-f]{64}/.exec(out + err) ?? [];
  if (digest === undefined) throw new Error('helm push did not say the digest of the chart.');
  return digest;
}

/** Shows what it runs, and what that writes to standard error. */
const runShown: Run = async (program, args) => {
  process.stderr.write(`${[program, ...args].join(' ')}\n`);
  const child = spawn(program, args, { cwd: root, stdio: ['inherit', 'pipe', 'pipe'] });
  let err = '';
  child.stderr.on('data', (chunk: Buffer) => {
    err += chunk.toString();
    process.stderr.write(chunk);
  });
  const ended = once(child, 'close') as Promise<[number | null]>;
  const [out, [code]] = await Promise.all([text(child.stdout), ended]);
  if (code !== 0) throw new Error(`${program} ended with ${String(code)}.`);
  return { out, err };
};

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      'cosign-key': { type: 'string' },
      'chart-key': { type: 'string' },
      keyring: { type: 'string' },
    },
  });
  const [registry, folder, ...others] = positionals;
  if (registry === undefined || folder === undefined || others.length > 0) {
    throw new Error(
      'Usage: node infra/release.ts <registry> <folder> [--cosign-key <key>] [--chart-key <name> --keyring <file>]',
    );
  }
  if ((await runShown('git', ['status', '--porcelain'])).out !== '') {
    throw new Error(
      'The checkout has changes: commit them, because images name the commit that they are built from.',
    );
  }
  const revision = (await runShown('git', ['rev-parse', 'HEAD'])).out.trim();
  const { 'cosign-key': cosignKey, 'chart-key': chartKey, keyring } = values;
  const release = { registry, revision, folder: path.resolve(folder), cosignKey, chartKey, keyring };
  for (const artefact of await publish(release, runShown)) process.stdout.write(`${artefact}\n`);
}

if (import.meta.main) {
  try {
    await main();
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`);
    process.exitCode = 1;
  }
}
