/**
 * The memory of a QuickJS, which is its whole state: with an empty sandbox, and what each script has changed of that. Each run begins with
 * the state after its script was loaded.
 */

/** The unit of what is kept. */
const chunkBytes = 256;
/** So much is compared at once, because most of the memory is unused. */
const blockBytes = 256 * chunkBytes;
/** Unused memory between used parts, such as the stack, is not restored where it is longer than this. */
const longestGap = 256 * 1024;
const zeros = Buffer.alloc(blockBytes);
/** Fills free memory before a script is loaded, so that what the script has set to zero differs from it, and is kept. */
const free = Buffer.alloc(blockBytes, 0xa5);

/** Addresses. */
interface Part {
  readonly start: number;
  readonly end: number;
}

/** The parts that a script has changed, and their content, one after another. */
export interface Changes {
  readonly parts: readonly Part[];
  readonly content: Buffer;
}

export class Memory {
  readonly #wasm: { readonly buffer: ArrayBufferLike };
  #current: Buffer;
  readonly #used: readonly Part[];
  readonly #empty: Buffer;

  /** @param wasm of a QuickJS with an empty sandbox */
  constructor(wasm: { readonly buffer: ArrayBufferLike }) {
    this.#wasm = wasm;
    this.#current = Buffer.from(wasm.buffer);
    const all = this.#all();
    this.#used = differences(all, { start: 0, end: all.length }, { repeated: zeros }, longestGap);
    this.#empty = Buffer.from(all.subarray(0, this.#used.at(-1)?.end));
  }

  /** Makes the sandbox empty, to load a script. */
  clear(): void {
    this.#all().fill(free[0] ?? 0, this.#empty.length);
    this.#restoreUsed();
  }

  /** What has changed since {@link clear}. */
  changes(): Changes {
    const all = this.#all();
    const rest = { start: this.#empty.length, end: all.length };
    const parts = [
      ...this.#used.flatMap((part) => differences(all, part, { whole: this.#empty })),
      ...differences(all, rest, { repeated: free }),
    ];
    return { parts, content: Buffer.concat(parts.map(({ start, end }) => all.subarray(start, end))) };
  }

  restore({ parts, content }: Changes): void {
    this.#restoreUsed();
    const all = this.#all();
    let from = 0;
    for (const { start, end } of parts) {
      content.copy(all, start, from, (from += end - start));
    }
  }

  #restoreUsed(): void {
    const all = this.#all();
    for (const { start, end } of this.#used) this.#empty.copy(all, start, start, end);
  }

  #all(): Buffer {
    // It has another buffer after it has grown.
    if (this.#current.buffer !== this.#wasm.buffer) this.#current = Buffer.from(this.#wasm.buffer);
    return this.#current;
  }
}

/** Where a part of memory differs from what it was; differences with a gap of up to `gap` bytes are one. */
function differences(
  all: Buffer,
  { start, end }: Part,
  before: { readonly whole: Buffer } | { readonly repeated: Buffer },
  gap = 0,
): readonly Part[] {
  const found: { start: number; end: number }[] = [];
  const isSame = (from: number, to: number): boolean =>
    'whole' in before
      ? all.compare(before.whole, from, to, from, to) === 0
      : all.compare(before.repeated, 0, to - from, from, to) === 0;
  for (let block = start; block < end; block += blockBytes) {
    const blockEnd = Math.min(end, block + blockBytes);
    if (isSame(block, blockEnd)) continue;
    for (let from = block; from < blockEnd; from += chunkBytes) {
      const to = Math.min(blockEnd, from + chunkBytes);
      if (isSame(from, to)) continue;
      const last = found.at(-1);
      if (last && from - last.end <= gap) last.end = to;
      else found.push({ start: from, end: to });
    }
  }
  return found;
}
