/** The functions of a V8 CPU profile with the most self time. */
import { readFile } from 'node:fs/promises';
import path from 'node:path';

/** The parts of a `.cpuprofile` that are read here. */
export interface CpuProfile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: {
      readonly functionName: string;
      readonly url: string;
      /** From 0; -1 if there is none. */
      readonly lineNumber: number;
    };
  }[];
  /** The node that was running at each sample. */
  readonly samples: readonly number[];
  /** Microseconds before each sample. */
  readonly timeDeltas: readonly number[];
}

export interface HotSpot {
  /** Function and location, such as `parse (services/ingest/src/server.ts:12)`. */
  readonly where: string;
  /** Share of the time in which the process was not idle, between 0 and 1. */
  readonly share: number;
}

/** Locations inside `root` are shown relative to it. */
export function hotSpots(profile: CpuProfile, root: string, count: number): HotSpot[] {
  const names = new Map(profile.nodes.map(({ id, callFrame }) => [id, nameOf(callFrame, root)]));
  const timeOf = new Map<string, number>();
  let busy = 0;
  for (const [index, id] of profile.samples.entries()) {
    const where = names.get(id) ?? '(unknown)';
    if (where === '(idle)') continue;
    const microseconds = profile.timeDeltas[index] ?? 0;
    busy += microseconds;
    timeOf.set(where, (timeOf.get(where) ?? 0) + microseconds);
  }
  return [...timeOf]
    .map(([where, microseconds]) => ({ where, share: microseconds / busy }))
    .sort((a, b) => b.share - a.share)
    .slice(0, count);
}

const root = path.resolve(import.meta.dirname, '../../..');

/** The hottest functions of the profile in `file`, a line each. */
export async function renderHotSpots(file: string): Promise<string> {
  const spots = hotSpots(JSON.parse(await readFile(file, 'utf8')) as CpuProfile, root, 20);
  const lines = spots.map(({ where, share }) => `${(share * 100).toFixed(1).padStart(6)} %  ${where}\n`);
  return `share of its CPU time (${file})\n${lines.join('')}`;
}

type CallFrame = CpuProfile['nodes'][number]['callFrame'];

function nameOf({ functionName, url, lineNumber }: CallFrame, root: string): string {
  const name = functionName === '' ? '(anonymous)' : functionName;
  if (url === '') return name;
  const place = url.replace(/^file:\/\//, '').replace(`${root}/`, '');
  return `${name} (${place}:${lineNumber + 1})`;
}
