/** Two people change one entry: finds the fields that both changed, and joins the others. */

export type Entry = Readonly<Record<string, unknown>>;

export interface Conflict {
  /** `rateLimit` or `settings.webhooks`. */
  readonly field: string;
  readonly base: unknown;
  readonly mine: unknown;
  readonly theirs: unknown;
}

export type Choice = 'mine' | 'theirs';

/** The fields of `settings` count one by one. */
const nested = 'settings';

/** Values are compared as JSON. */
export function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(ordered(one)) === JSON.stringify(ordered(other));
}

/** The fields that both changed, to different values. */
export function conflictsOf(base: Entry, mine: Entry, theirs: Entry): Conflict[] {
  return fieldsOf(base, mine, theirs).flatMap((field) => {
    const values = { base: read(base, field), mine: read(mine, field), theirs: read(theirs, field) };
    const isChosenByBoth =
      !isSame(values.base, values.mine) &&
      !isSame(values.base, values.theirs) &&
      !isSame(values.mine, values.theirs);
    return isChosenByBoth ? [{ field, ...values }] : [];
  });
}

/** Their entry with my changes, except for the fields where theirs was chosen. */
export function joined(
  base: Entry,
  mine: Entry,
  theirs: Entry,
  choices: Readonly<Record<string, Choice>>,
): Entry {
  let result = theirs;
  for (const field of fieldsOf(base, mine, theirs)) {
    const own = read(mine, field);
    if (isSame(read(base, field), own) || choices[field] === 'theirs') continue;
    result = write(result, field, own);
  }
  return result;
}

/** The merge patch (RFC 7396) that makes `after` of `before`. */
export function mergePatchOf(before: Entry, after: Entry): Entry {
  const patch: Record<string, unknown> = {};
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [old, next] = [before[name], after[name]];
    if (isSame(old, next)) continue;
    if (next === undefined) patch[name] = null;
    else patch[name] = isEntry(old) && isEntry(next) ? mergePatchOf(old, next) : next;
  }
  return patch;
}

function fieldsOf(...entries: readonly Entry[]): string[] {
  const names = entries.flatMap((entry) =>
    Object.keys(entry).flatMap((name) => {
      const value = entry[name];
      return name === nested && isEntry(value)
        ? Object.keys(value).map((inner) => `${nested}.${inner}`)
        : [name];
    }),
  );
  return [...new Set(names)];
}

function read(entry: Entry, field: string): unknown {
  const [name = '', inner] = field.split('.');
  const value = entry[name];
  if (inner === undefined) return value;
  return isEntry(value) ? value[inner] : undefined;
}

function write(entry: Entry, field: string, value: unknown): Entry {
  const [name = '', inner] = field.split('.');
  if (inner === undefined) return without({ ...entry, [name]: value });
  const settings = entry[name];
  return { ...entry, [name]: without({ ...(isEntry(settings) && settings), [inner]: value }) };
}

function without(entry: Entry): Entry {
  return Object.fromEntries(Object.entries(entry).filter(([, value]) => value !== undefined));
}

function isEntry(value: unknown): value is Entry {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function ordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(ordered);
  if (!isEntry(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((name) => [name, ordered(value[name])]),
  );
}
