/**
 * Writes values from `parseJson` as JSON, at any nesting. `JSON.stringify` runs out of stack at some thousand levels, and a call of
 * 32 KB can have sixteen thousand. Such a call is refused, and is then written to `events.rejected` as it was sent.
 */

export function writeJson(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (error instanceof RangeError) return writeDeep(value);
    throw error;
  }
}

/** An object or array that is being written. */
interface Holder {
  readonly values: Readonly<Record<string, unknown>> | readonly unknown[];
  /** Undefined for arrays. */
  readonly keys: readonly string[] | undefined;
  readonly end: '}' | ']';
  written: number;
}

/** Takes ten times as long as `JSON.stringify`, without recursion. */
function writeDeep(root: unknown): string {
  let json = '';
  const open: Holder[] = [];
  const write = (value: unknown): void => {
    if (typeof value !== 'object' || value === null || JSON.isRawJSON(value)) {
      json += JSON.stringify(value);
    } else if (Array.isArray(value)) {
      json += '[';
      open.push({ values: value, keys: undefined, end: ']', written: 0 });
    } else {
      json += '{';
      open.push({ values: value as Record<string, unknown>, keys: Object.keys(value), end: '}', written: 0 });
    }
  };

  write(root);
  for (let holder = open.at(-1); holder; holder = open.at(-1)) {
    const { values, keys, end, written } = holder;
    if (written === (keys ?? (values as readonly unknown[])).length) {
      json += end;
      open.pop();
      continue;
    }
    holder.written += 1;
    if (written > 0) json += ',';
    const key = keys?.[written];
    if (key !== undefined) json += `${JSON.stringify(key)}:`;
    write((values as Readonly<Record<string, unknown>>)[key ?? written]);
  }
  return json;
}
