/**
 * `node test/bench/growth.ts`: how cost, memory and start time of each service grow, and how long a change takes. Prints a table for
 * each curve, and writes plots. The exit code is 1 if an event was lost.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { count, readOptions, someOf, type CommandLine } from './command-line.ts';
import { exponent, type Point } from './figures/exponent.ts';
import { renderMachine, type Machine } from './figures/machine.ts';
import { mapValues } from './figures/measure.ts';
import { renderPlot, type Panel } from './figures/plot.ts';
import { hundredths, table, tenths, whole, type Format } from './figures/table.ts';
import { curveNames, curves, shapeOf, type CurveName } from './growth/curves.ts';
import { measurePoint, type Figures } from './growth/measure-point.ts';
import { obey, runBench, say } from './processes/bench.ts';

interface Options {
  readonly only: readonly CurveName[];
  readonly points: readonly number[] | undefined;
  readonly out: string | undefined;
  readonly profileFolder: string | undefined;
}

const usage = `Usage: node test/bench/growth.ts [options]

Measures all four services along curves, each point on a broker of its own, for about half an hour.

  --only CURVES     some of ${curveNames.join(',')}
  --points N,...    other points of the curves
  --out FOLDER      for a plot of each curve: FOLDER/growth-<curve>.svg
  --profile FOLDER  for a CPU profile of each service; with one point
  --help            this text
`;

function readCommandLine(args: readonly string[]): CommandLine<Options> {
  const known = { usage, texts: ['only', 'points', 'out', 'profile'] } as const;
  return readOptions(args, known, ({ only, points, out, profile }) => ({
    only: someOf(curveNames, 'only', only),
    points: points?.split(',').map((point) => count('points', point, NaN)),
    out,
    profileFolder: profile,
  }));
}

type Kind = Exclude<keyof Figures, 'lost'>;

/** The parts of a table and the panels of a plot. */
const kinds: readonly { readonly of: Kind; readonly title: string; readonly format: Format }[] = [
  { of: 'cpuMicroseconds', title: 'CPU, µs a delivery', format: whole },
  { of: 'peakMebibytes', title: 'peak memory, MiB', format: whole },
  { of: 'startSeconds', title: 'start, s', format: tenths },
  { of: 'changeSeconds', title: 'change in force, s', format: hundredths },
];

await obey(readCommandLine(process.argv.slice(2)), async (options) => {
  if (options.out !== undefined) await mkdir(options.out, { recursive: true });
  for (const curve of options.only) await measureCurve(curve, options);
});

interface Measured extends Figures {
  readonly machine: Machine;
}

async function measureCurve(curve: CurveName, { points, out, profileFolder }: Options): Promise<void> {
  const measured = new Map<number, Measured>();
  for (const point of points ?? curves[curve].points) {
    say(`${curve}: ${whole(point)}`);
    const options = { shape: shapeOf(curve, point), measuresChange: curve === 'destinations', profileFolder };
    await runBench(
      async (bench) => ({ machine: bench.machine, ...(await measurePoint(bench, options)) }),
      (figures) => {
        measured.set(point, figures);
        return Promise.resolve({ sound: figures.lost === 0 });
      },
    );
  }
  const [first] = measured.values();
  if (!first) return;
  process.stdout.write(`${renderMachine(first.machine)}\n\n${tableOf(curve, measured)}\n\n`);
  if (out === undefined) return;
  const panels = kinds.map(({ of, title }): Panel => ({ title, lines: linesOf(measured, of) }));
  const shown = panels.filter(({ lines }) => Object.keys(lines).length > 0);
  await writeFile(path.join(out, `growth-${curve}.svg`), renderPlot(curve, shown));
}

function linesOf(
  measured: ReadonlyMap<number, Measured>,
  of: Kind,
): Readonly<Record<string, readonly Point[]>> {
  const all = [...measured];
  return mapValues(all[0]?.[1][of] ?? {}, (_, name) =>
    all.map(([x, figures]) => ({ x, y: figures[of][name] ?? NaN })),
  );
}

/** A row for each figure, with its exponent over all points, and between the last two. */
function tableOf(curve: string, measured: ReadonlyMap<number, Measured>): string {
  const rows = kinds.flatMap(({ of, title, format }) =>
    Object.entries(linesOf(measured, of)).map(([name, points]) => [
      `${title}: ${name}`,
      ...points.map(({ y }) => format(y)),
      hundredths(exponent(points)),
      hundredths(exponent(points.slice(-2))),
    ]),
  );
  const row = (title: string, format: Format, of: (one: Measured) => number): string[] => [
    title,
    ...Array.from(measured.values(), (one) => format(of(one))),
    '',
    '',
  ];
  const last = [
    row('lost', whole, ({ lost }) => lost),
    row('load average before', tenths, ({ machine }) => machine.loadBefore),
  ];
  const header = [curve, ...Array.from(measured.keys(), whole), 'exponent', 'at the end'];
  return table(header, [...rows, ...last]);
}
