/**
 * One QuickJS, in which transforms run one after another. Its whole state is its memory: after each script has been loaded, the pages
 * that differ from the empty sandbox are kept, and each run begins with them. So a script is compiled once, no run sees another one, and
 * the same event always has the same result.
 */
import releaseSync from '@jitl/quickjs-wasmfile-release-sync';
import { isRawNumber, parseJson } from '@tailrace/events';
import {
  newQuickJSWASMModuleFromVariant,
  type QuickJSContext,
  type QuickJSHandle,
  type QuickJSSyncVariant,
  type QuickJSWASMModule,
  type VmCallResult,
} from 'quickjs-emscripten-core';
import { transformLimits, type TransformFailure, type TransformResult, type TransformRun } from './run.ts';
import { sandbox } from './sandbox.ts';

const { cpuMs: runCpuMs, loadCpuMs, memoryBytes, resultBytes, logLines, logCharacters } = transformLimits;
const fileName = 'transform.js';
const stackBytes = 128 * 1024;
const pageBytes = 4_096;
const blockBytes = 16 * pageBytes;
/** Unused memory between used pages, such as the stack, is not restored where it is longer than this. */
const longestGap = 256 * 1024;
/** Of loaded scripts. The least recently used ones are loaded again. */
const mostKeptBytes = 32 * 2 ** 20;
/** A number with so many digits, or with an exponent, may be one that a double does not hold. */
const mayBeInexact = /[\d.]{16}|\d[eE][+\-\d]/;

interface Range {
  readonly start: number;
  readonly bytes: Uint8Array;
}

/** A script: the pages that it changed when it was loaded, or why it cannot be. */
type Loaded =
  | { readonly outcome: 'loaded'; readonly pages: readonly Range[]; readonly bytes: number }
  | { readonly outcome: 'failed'; readonly error: TransformFailure; readonly bytes: number };

export class Machine {
  readonly #memory: { readonly buffer: ArrayBufferLike };
  readonly #context: QuickJSContext;
  readonly #load: QuickJSHandle;
  readonly #run: QuickJSHandle;
  readonly #logs: QuickJSHandle;
  /** All that the empty sandbox uses, from address 0. */
  readonly #empty: Uint8Array;
  readonly #used: readonly Range[];
  /** By script, the most recently used last. */
  readonly #loaded = new Map<string, Loaded>();
  #loadedBytes = 0;
  readonly #timer = new CpuTimer();
  #isBroken = false;

  static async create(): Promise<Machine> {
    return new Machine(await newQuickJSWASMModuleFromVariant(releaseSync as unknown as QuickJSSyncVariant));
  }

  private constructor(module: QuickJSWASMModule) {
    this.#memory = module.getWasmMemory() as { readonly buffer: ArrayBufferLike };
    const runtime = module.newRuntime();
    runtime.setMemoryLimit(memoryBytes);
    runtime.setMaxStackSize(stackBytes);
    runtime.setInterruptHandler(() => this.#timer.isOver());
    const context = runtime.newContext();
    const text = `(${sandbox.toString()})(${logLines}, ${logCharacters})`;
    const made = context.unwrapResult(context.evalCode(text, 'sandbox.js'));
    this.#context = context;
    this.#load = context.getProp(made, 'load');
    this.#run = context.getProp(made, 'run');
    this.#logs = context.getProp(made, 'logs');
    this.#empty = this.#all().slice(0, endOfUsed(this.#all()));
    this.#used = usedRanges(this.#empty);
  }

  /** Whether it has to be replaced, because it has ended in the middle of a run. */
  get isBroken(): boolean {
    return this.#isBroken;
  }

  run({ code, event, keepLogs = false }: Omit<TransformRun, 'owner'>): TransformResult {
    const loaded = this.#loadedOf(code);
    if (loaded.outcome === 'failed') return { ...loaded, cpuMs: 0, logs: [] };
    this.#restore(loaded.pages);
    const { argument, mark } = markedArgument(event);
    const context = this.#context;
    const { value, error, cpuMs } = this.#call(runCpuMs, 'run', () =>
      context.callFunction(
        this.#run,
        context.undefined,
        context.newString(argument),
        keepLogs ? context.true : context.false,
        context.newString(mark),
      ),
    );
    const logs = keepLogs && !this.#isBroken ? this.#takeLogs() : [];
    if (error) return { outcome: 'failed', error, cpuMs, logs };
    return { ...resultOf(value, mark), cpuMs, logs };
  }

  #loadedOf(code: string): Loaded {
    const known = this.#loaded.get(code);
    const loaded = known ?? this.#loadScript(code);
    if (known) this.#loaded.delete(code);
    else this.#loadedBytes += loaded.bytes;
    this.#loaded.set(code, loaded);
    for (const [oldest, { bytes }] of this.#loaded) {
      if (this.#loadedBytes <= mostKeptBytes || oldest === code) break;
      this.#loaded.delete(oldest);
      this.#loadedBytes -= bytes;
    }
    return loaded;
  }

  #loadScript(code: string): Loaded {
    // Also without what earlier runs have left in memory that is free.
    const all = this.#all();
    all.set(this.#empty);
    all.fill(0, this.#empty.length);
    const context = this.#context;
    const failed = (error: TransformFailure): Loaded => ({ outcome: 'failed', error, bytes: code.length });
    const load = (source: string, name: string) =>
      this.#call(loadCpuMs, 'load', () => {
        const evaluated = context.evalCode(source, name);
        return evaluated.error
          ? evaluated
          : context.callFunction(this.#load, context.undefined, evaluated.value);
      });
    for (const [source, name] of [
      [code, fileName],
      // Not a property of the global object where it was declared with const.
      ["typeof transform === 'function' ? transform : undefined", 'declared.js'],
    ] as const) {
      const { value, error } = load(source, name);
      if (error) return failed(error);
      if (value !== 'true') continue;
      const pages = changedPages(this.#all(), this.#empty);
      return {
        outcome: 'loaded',
        pages,
        bytes: pages.reduce((sum, { bytes }) => sum + bytes.length, code.length),
      };
    }
    return failed({
      message:
        'The script has no function. End it with (event) => …, or declare function transform(event) { … }.',
    });
  }

  /** The text of what the call returns, or why it has none. */
  #call(
    mostCpuMs: number,
    what: 'load' | 'run',
    call: () => VmCallResult<QuickJSHandle>,
  ): { readonly value: string; readonly error?: TransformFailure; readonly cpuMs: number } {
    const timer = this.#timer;
    timer.start(mostCpuMs);
    let value = '';
    let error: TransformFailure | undefined;
    try {
      const result = call();
      if (result.error) error = this.#failureOf(result.error);
      else value = this.#context.getString(result.value);
    } catch (thrown) {
      // The stack of the thread is at its end, or QuickJS is: its state is not known.
      this.#isBroken = true;
      error = {
        message:
          thrown instanceof RangeError
            ? 'InternalError: stack overflow'
            : `it ended QuickJS: ${String(thrown)}`,
      };
    }
    const cpuMs = timer.stop();
    if (timer.wasOver || cpuMs > mostCpuMs) {
      const subject = what === 'load' ? 'Loading the script' : 'The function';
      error = { message: `${subject} used more than ${mostCpuMs} ms of CPU time.`, isTooLong: true };
    }
    return error ? { value, error, cpuMs } : { value, cpuMs };
  }

  /** Of an error that the sandbox has not caught: one while the script is loaded, or without memory to tell it. */
  #failureOf(error: QuickJSHandle): TransformFailure {
    const context = this.#context;
    const text = (name: string): string => {
      const handle = context.getProp(error, name);
      return context.typeof(handle) === 'string' ? context.getString(handle) : '';
    };
    if (context.typeof(error) !== 'object') return { message: `thrown: ${context.getString(error)}` };
    const message = [text('name'), text('message')].filter((part) => part !== '').join(': ');
    return {
      message: message === '' ? 'an error without a text' : bounded(message),
      line: lineOf(text('stack')),
    };
  }

  #takeLogs(): readonly string[] {
    const context = this.#context;
    const { value } = this.#call(runCpuMs, 'run', () => context.callFunction(this.#logs, context.undefined));
    const lines = jsonIn(value);
    return Array.isArray(lines) ? lines.filter((line) => typeof line === 'string') : [];
  }

  #all(): Uint8Array {
    return new Uint8Array(this.#memory.buffer);
  }

  #restore(pages: readonly Range[]): void {
    const all = this.#all();
    for (const { start, bytes } of this.#used) all.set(bytes, start);
    for (const { start, bytes } of pages) all.set(bytes, start);
  }
}

/** Measures the CPU time of the thread, so that a machine with other work to do changes nothing. */
class CpuTimer {
  #startedAt = 0;
  #cpuAtStart = 0;
  #mostMs = Infinity;
  #wasOver = false;

  /** Whether {@link isOver} has been true. */
  get wasOver(): boolean {
    return this.#wasOver;
  }

  start(mostMs: number): void {
    this.#mostMs = mostMs;
    this.#wasOver = false;
    this.#startedAt = performance.now();
    this.#cpuAtStart = threadCpuMs();
  }

  isOver(): boolean {
    // The CPU time is at most the time.
    if (performance.now() - this.#startedAt <= this.#mostMs) return false;
    this.#wasOver ||= threadCpuMs() - this.#cpuAtStart > this.#mostMs;
    return this.#wasOver;
  }

  stop(): number {
    return Math.round((threadCpuMs() - this.#cpuAtStart) * 1_000) / 1_000;
  }
}

function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

type Told = Pick<Extract<TransformResult, { outcome: 'body' }>, 'outcome' | 'body' | 'headers' | 'url'>;

/** Reads what the sandbox has told. The script may have changed it, so nothing of it is trusted but that the body is JSON. */
function resultOf(
  text: string,
  mark: string,
):
  | Told
  | { readonly outcome: 'filtered' }
  | { readonly outcome: 'failed'; readonly error: TransformFailure } {
  const kind = text.charAt(0);
  if (kind === 'N') return { outcome: 'filtered' };
  if (kind === 'E') {
    const { message, stack } = (jsonIn(text.slice(1)) ?? {}) as {
      readonly message?: unknown;
      readonly stack?: unknown;
    };
    return failed(
      typeof message === 'string' ? bounded(message) : 'an error without a text',
      typeof stack === 'string' ? lineOf(stack) : undefined,
    );
  }
  const end = text.indexOf('\n');
  const parts = jsonIn(text.slice(1, end));
  const body = withDigits(text.slice(end + 1), mark);
  const bytes = Buffer.byteLength(body) + (end > 3 ? end : 0);
  if (bytes > resultBytes) return failed(`The result has ${bytes} bytes, and ${resultBytes} are allowed.`);
  const { headers, url } = (parts ?? {}) as { readonly headers?: unknown; readonly url?: unknown };
  if (url !== undefined && !(Number.isInteger(url) && Number(url) >= 0 && Number(url) <= 4)) {
    return failed('url is not a whole number from 0 to 4.');
  }
  if (headers !== undefined && !isTexts(headers))
    return failed('headers is not an object whose values are texts.');
  return {
    outcome: 'body',
    body,
    ...(headers !== undefined && Object.keys(headers).length > 0 && { headers }),
    ...(url !== undefined && { url: Number(url) }),
  };
}

function failed(message: string, line?: number) {
  return { outcome: 'failed', error: { message, line } } as const;
}

function isTexts(value: unknown): value is Readonly<Record<string, string>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return Object.values(value).every((one) => typeof one === 'string');
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const mostMessage = 1_000;

function bounded(text: string): string {
  return text.length > mostMessage ? `${text.slice(0, mostMessage)}…` : text;
}

/** The line of the script in the innermost frame that is one of it. */
function lineOf(stack: string): number | undefined {
  const [, line] = /transform\.js:(\d+)/.exec(stack) ?? [];
  return line === undefined ? undefined : Number(line);
}

/** The argument with texts in place of numbers that a double does not hold. They begin with the mark, which no event has. */
function markedArgument(event: string): { readonly argument: string; readonly mark: string } {
  if (!mayBeInexact.test(event)) return { argument: event, mark: '' };
  let mark = 'exact:';
  while (event.includes(mark)) mark = `exact-${mark}`;
  const argument = JSON.stringify(parseJson(event), (_key, value: unknown) =>
    isRawNumber(value) ? mark + value.rawJSON : value,
  );
  return { argument, mark };
}

function withDigits(body: string, mark: string): string {
  if (mark === '') return body;
  // Only whole values: the script may write the mark into a key, or into the middle of a text.
  const number = '-?\\d+(?:\\.\\d+)?(?:[eE][+-]?\\d+)?';
  return body.replaceAll(new RegExp(`(?<=^|[[,:])"${mark}(${number})"(?!:)`, 'g'), '$1');
}

const noBlock = new Uint8Array(blockBytes);

/** Where the last block with content ends. */
function endOfUsed(all: Uint8Array): number {
  for (let end = all.length; end > 0; end -= blockBytes) {
    if (Buffer.compare(all.subarray(end - blockBytes, end), noBlock) !== 0) return end;
  }
  return 0;
}

/** Copies of what is used, without long gaps. */
function usedRanges(empty: Uint8Array): readonly Range[] {
  const ranges: { start: number; end: number }[] = [];
  for (let start = 0; start < empty.length; start += pageBytes) {
    const end = start + pageBytes;
    if (Buffer.compare(empty.subarray(start, end), noBlock.subarray(0, pageBytes)) === 0) continue;
    const last = ranges.at(-1);
    if (last && start - last.end <= longestGap) last.end = end;
    else ranges.push({ start, end });
  }
  return ranges.map(({ start, end }) => ({ start, bytes: empty.slice(start, end) }));
}

/** Copies of the pages that differ from those of the empty sandbox. */
function changedPages(all: Uint8Array, empty: Uint8Array): readonly Range[] {
  const changed: Range[] = [];
  const before = (start: number, end: number): Uint8Array =>
    start < empty.length ? empty.subarray(start, end) : noBlock.subarray(0, end - start);
  for (let block = 0; block < all.length; block += blockBytes) {
    const end = block + blockBytes;
    if (Buffer.compare(all.subarray(block, end), before(block, end)) === 0) continue;
    for (let start = block; start < end; start += pageBytes) {
      const page = all.subarray(start, start + pageBytes);
      if (Buffer.compare(page, before(start, start + pageBytes)) !== 0)
        changed.push({ start, bytes: page.slice() });
    }
  }
  return changed;
}
