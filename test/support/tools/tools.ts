/** Finds a program of the catalogue, and gets it into the cache the first time. */
import { chmod, copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { cached, isCached } from './cache.ts';
import { catalogue, type Origin, type ToolName } from './catalogue.ts';
import { rarelyCollecting, run } from './command.ts';

const root = path.join(import.meta.dirname, '../../..');

/** Go programs are built by the Go of the machine, without symbols and without the paths of this machine. */
const goBuild = ['-trimpath', '-ldflags=-s -w'];
const goEnvironment = { GOTOOLCHAIN: 'local', GOFLAGS: '', CGO_ENABLED: '0' };

/**
 * The absolute path of a program.
 *
 * @throws Error that says what to install, if it cannot be built or unpacked on this machine
 */
export async function toolPath(name: ToolName): Promise<string> {
  const origin = originOf(name);
  try {
    const folder = await cached(folderName(origin), (into) => fetchInto(into, origin));
    return path.join(folder, fileOf(origin));
  } catch (error) {
    throw new Error(`${name} is not available. ${needs[origin.from]}\n${(error as Error).message}`, {
      cause: error,
    });
  }
}

/** Whether `toolPath` returns immediately. */
export function isToolCached(name: ToolName): boolean {
  return isCached(folderName(originOf(name)));
}

type NpmOrigin = Extract<Origin, { from: 'npm' }>;
type KubernetesOrigin = Extract<Origin, { from: 'kubernetes' }>;
type ModuleOrigin = Extract<Origin, { from: 'go-module' | 'go-required' }>;

function originOf(name: ToolName): Origin {
  const origin: Origin = catalogue[name];
  const isOther = origin.from === 'npm' && origin.platform !== `${process.platform}-${process.arch}`;
  return isOther ? origin.otherwise : origin;
}

const needs: Readonly<Record<Origin['from'], string>> = {
  go: 'It is built with Go 1.26 or later, once: install Go.',
  'go-module': 'It is built with Go 1.26 or later, once: install Go.',
  'go-required': 'It is built with Go 1.26 or later, once: install Go.',
  kubernetes: 'It is built with Go 1.26 or later, once: install Go.',
  npm: 'It is a package for npm, unpacked with Python 3: install both.',
  python: 'It is a package for Python 3: install Python 3 with pip.',
  debian: 'It is a package of Debian: it needs apt-get with fresh lists (apt-get update) and dpkg-deb.',
};

function folderName(origin: Origin): string {
  switch (origin.from) {
    case 'go': {
      return `${origin.program.replaceAll('/', '_')}@${origin.version}`;
    }
    case 'go-module':
    case 'go-required': {
      return `${path.join(origin.module, origin.program).replaceAll('/', '_')}@${origin.version}`;
    }
    case 'kubernetes': {
      return `k8s.io_${origin.program}@v${origin.version}`;
    }
    case 'npm':
    case 'python': {
      return `${origin.distribution.replaceAll('/', '_')}@${origin.version}`;
    }
    case 'debian': {
      return `debian_${origin.distribution}`;
    }
  }
}

function fileOf(origin: Origin): string {
  switch (origin.from) {
    case 'go':
    case 'go-module':
    case 'go-required':
    case 'kubernetes': {
      return path.basename(origin.program);
    }
    case 'npm':
    case 'python':
    case 'debian': {
      return origin.file;
    }
  }
}

async function fetchInto(folder: string, origin: Origin): Promise<void> {
  switch (origin.from) {
    case 'go': {
      const env = { ...goEnvironment, GOBIN: folder };
      await run('go', ['install', ...goBuild, `${origin.program}@${origin.version}`], { env });
      return;
    }
    case 'go-module': {
      await buildModule(folder, origin);
      return;
    }
    case 'go-required': {
      const { module, version, program } = origin;
      const lines = [`require ${module} ${version}`];
      await buildApart(folder, { program, lines, args: [...goBuild, `${module}/${program}`] });
      return;
    }
    case 'kubernetes': {
      await buildKubernetes(folder, origin);
      return;
    }
    case 'npm': {
      await unpackNpm(folder, origin);
      return;
    }
    case 'python': {
      const wanted = `${origin.distribution}==${origin.version}`;
      await run('python3', ['-m', 'pip', 'install', '--quiet', '--no-deps', '--target', folder, wanted]);
      return;
    }
    case 'debian': {
      await unpackDebian(folder, origin.distribution);
      return;
    }
  }
}

/** Downloads a module of Go, as `example.com/module@v1.0.0`. `Dir` is its read-only source. */
export async function goModule(module: string): Promise<{ readonly Dir: string; readonly GoMod: string }> {
  const found = await run('go', ['mod', 'download', '-json', module], { env: goEnvironment });
  return JSON.parse(found) as { Dir: string; GoMod: string };
}

async function buildModule(folder: string, { module, program, version }: ModuleOrigin): Promise<void> {
  const { Dir: cwd } = await goModule(`${module}@${version}`);
  const out = path.join(folder, path.basename(program));
  await run('go', ['build', '-mod=readonly', ...goBuild, '-o', out, program], { cwd, env: goEnvironment });
}

/** Builds a program in a module of its own, which has these lines, and `main` as its main package. */
async function buildApart(
  folder: string,
  {
    program,
    lines,
    args,
    main,
  }: {
    readonly program: string;
    readonly lines: readonly string[];
    /** Of `go build`, with the package. */
    readonly args: readonly string[];
    readonly main?: string | undefined;
  },
): Promise<void> {
  const module = path.join(folder, 'module');
  await mkdir(module);
  await writeFile(
    path.join(module, 'go.mod'),
    ['module tailrace.example/tool', 'go 1.26.0', ...lines, ''].join('\n'),
  );
  if (main !== undefined) await copyFile(path.join(root, main), path.join(module, 'main.go'));
  const env = { ...goEnvironment, GOFLAGS: '-mod=mod', ...rarelyCollecting };
  const out = path.join(folder, path.basename(program));
  await run('go', ['build', '-o', out, ...args], { cwd: module, env });
  await rm(module, { recursive: true });
}

/** A module of our own requires k8s.io/kubernetes, and replaces its parts by their published versions. */
async function buildKubernetes(folder: string, { program, version, main }: KubernetesOrigin): Promise<void> {
  const { GoMod: goMod } = await goModule(`k8s.io/kubernetes@v${version}`);
  const parts = [...(await readFile(goMod, 'utf8')).matchAll(/^\s*(\S+) => \.\/staging\//gm)];
  // The parts of Kubernetes 1.36.3 are published as 0.36.3.
  const replaced = parts.map(([, name = '']) => `replace ${name} => ${name} v0${version.slice(1)}`);
  const [major, minor] = version.split('.');
  const about = [`gitVersion=v${version}`, `gitMajor=${major ?? ''}`, `gitMinor=${minor ?? ''}`];
  const flags = ['-s', '-w', ...about.map((value) => `-X k8s.io/component-base/version.${value}`)].join(' ');
  // Descriptions for debuggers, which the linker drops, take a tenth of the time.
  const args = ['-trimpath', '-gcflags=all=-dwarf=false', `-ldflags=${flags}`];
  const what = main === undefined ? `k8s.io/kubernetes/cmd/${program}` : '.';
  const lines = [`require k8s.io/kubernetes v${version}`, ...replaced];
  await buildApart(folder, { program, lines, args: [...args, what], main });
}

async function unpackNpm(folder: string, origin: NpmOrigin): Promise<void> {
  const wanted = `${origin.distribution}@${origin.version}`;
  const packed = await run('npm', ['pack', '--json', '--loglevel=error', wanted], { cwd: folder });
  const [{ filename, integrity } = { filename: '', integrity: '' }] = JSON.parse(packed) as {
    filename: string;
    integrity: string;
  }[];
  if (integrity !== origin.integrity) throw new Error(`${wanted} has another content: ${integrity}`);
  await run('tar', ['--extract', '--file', filename, origin.archive], { cwd: folder });
  await run('python3', ['-m', 'zipfile', '--extract', origin.archive, '.'], { cwd: folder });
  await rm(path.join(folder, filename));
  await rm(path.join(folder, origin.archive));
  for (const other of Object.values<Origin>(catalogue)) {
    if (other.from === 'npm' && other.distribution === origin.distribution) {
      await chmod(path.join(folder, other.file), 0o755);
    }
  }
}

async function unpackDebian(folder: string, distribution: string): Promise<void> {
  const download = (): Promise<string> =>
    run('apt-get', ['download', '--quiet', distribution], { cwd: folder });
  try {
    await download();
  } catch (error) {
    if (process.getuid?.() !== 0) throw error;
    await run('apt-get', ['update', '--quiet']);
    await download();
  }
  await run('sh', ['-c', 'dpkg-deb --extract ./*.deb . && rm ./*.deb'], { cwd: folder });
}
