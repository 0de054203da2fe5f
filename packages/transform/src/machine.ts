/**
 * One QuickJS, in which transforms run one after another. After a script has been loaded, what it has changed in the memory is kept, and
 * each of its runs begins with that (memory.ts). So a script is compiled once, no run sees another one, and the same event always has the
 * same result.
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
import { Memory, type Changes } from './memory.ts';
import { transformLimits, type TransformFailure, type TransformResult, type TransformRun } from './run.ts';
import { sandbox } from './sandbox.ts';

const { cpuMs: runCpuMs, loadCpuMs, memoryBytes, resultBytes, logLines, logCharacters } = transformLimits;
const fileName = 'transform.js';
const stackBytes = 128 * 1024;
/** What QuickJS tells, in characters: a result with marks of numbers is longer than its body. */
const longestText = 4 * resultBytes;
/** For so much longer than a run may take, it holds up others. */
const harmfulMs = 50;
/** Of one loaded script. */
const mostScriptBytes = 2 ** 20;
/** Of loaded scripts. The least recently used ones are loaded again. */
const mostKeptBytes = 32 * 2 ** 20;
const warmUps = 5;
const warmUp = `(event) => {
  const { a, ...rest } = { ...event, a: [1, 2.5, 'text'].map((one) => String(one).toUpperCase().replace(/[A-Z]+/g, '-')) };
  return { text: \`\${a.join()} \${Object.entries(rest).length} \${JSON.stringify(a)}\`, date: Date.parse('2026-01-01'), sum: Math.round(1.5) };
}`;
/** A number with so many digits, or with an exponent, may be one that a double does not hold. */
const mayBeInexact = /[\d.]{16}|\d[eE][+\-\d]/;

/** A script: what it has changed when it was loaded, or why it cannot be. */
type Loaded =
  | { readonly outcome: 'loaded'; readonly changes: Changes; readonly bytes: number }
  | { readonly outcome: 'failed'; readonly error: TransformFailure; readonly bytes: number };

export class Machine {
  readonly #memory: Memory;
  readonly #context: QuickJSContext;
  readonly #load: QuickJSHandle;
  readonly #run: QuickJSHandle;
  readonly #logs: QuickJSHandle;
  /** By script, the most recently used last. */
  readonly #loaded = new Map<string, Loaded>();
  #loadedBytes = 0;
  readonly #timer = new CpuTimer();
  #isBroken = false;

  static async create(): Promise<Machine> {
    const machine = new Machine(
      await newQuickJSWASMModuleFromVariant(releaseSync as unknown as QuickJSSyncVariant),
    );
    // V8 compiles what a run uses, so that no run of a transform takes longer because it is the first.
    for (let nth = 0; nth < warmUps; nth += 1) machine.run({ code: warmUp, event: '{}' });
    return machine;
  }

  private constructor(module: QuickJSWASMModule) {
    const runtime = module.newRuntime();
    runtime.setMemoryLimit(memoryBytes);
    runtime.setMaxStackSize(stackBytes);
    runtime.setInterruptHandler(() => this.#timer.isOver());
    const context = runtime.newContext();
    const text = `(${sandbox.toString()})(${logLines}, ${logCharacters}, ${longestText})`;
    const made = context.unwrapResult(context.evalCode(text, 'sandbox.js'));
    this.#context = context;
    this.#load = context.getProp(made, 'load');
    this.#run = context.getProp(made, 'run');
    this.#logs = context.getProp(made, 'logs');
    this.#memory = new Memory(module.getWasmMemory() as { readonly buffer: ArrayBufferLike });
  }

  /** Whether it has to be replaced, because it has ended in the middle of a run. */
  get isBroken(): boolean {
    return this.#isBroken;
  }

  run({ code, event, keepLogs = false }: Omit<TransformRun, 'owner' | 'source'>): TransformResult {
    const loaded = this.#loadedOf(code);
    if (loaded.outcome === 'failed') {
      return { ...loaded, cpuMs: loaded.error.isTooLong === true ? loadCpuMs : 0, logs: [] };
    }
    this.#memory.restore(loaded.changes);
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
    const logs = keepLogs && !this.#isBroken ? this.#takeLogs(mark) : [];
    if (error) return { outcome: 'failed', error, cpuMs, logs };
    return { ...resultOf(withDigits(value, mark)), cpuMs, logs };
  }

  #loadedOf(code: string): Loaded {
    const known = this.#loaded.get(code);
    const loaded = known ?? this.#loadScript(code);
    // The next time need not take as long.
    if (loaded.outcome === 'failed' && loaded.error.isTooLong === true) return loaded;
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
    this.#memory.clear();
    const context = this.#context;
    const failed = (found: TransformFailure): Loaded => {
      // Whether it uses too much CPU time may depend on the machine.
      const error = found.isTooLong === true ? found : { ...found, isOfScript: true };
      return { outcome: 'failed', error, bytes: code.length };
    };
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
      const changes = this.#memory.changes();
      const bytes = changes.content.length;
      if (bytes > mostScriptBytes) {
        return failed({
          message: `The script has ${bytes} bytes of memory before the function is called, and ${mostScriptBytes} are allowed.`,
        });
      }
      return { outcome: 'loaded', changes, bytes: bytes + code.length };
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
        isTooLong: true,
        isHarmful: true,
      };
    }
    const cpuMs = timer.stop();
    if (!this.#isBroken && timer.isOver()) {
      const subject = what === 'load' ? 'Loading the script' : 'The function';
      error = {
        message: `${subject} used more than ${mostCpuMs} ms of CPU time.`,
        isTooLong: true,
        isHarmful: cpuMs > mostCpuMs + harmfulMs,
      };
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

  #takeLogs(mark: string): readonly string[] {
    const context = this.#context;
    const { value } = this.#call(runCpuMs, 'run', () => context.callFunction(this.#logs, context.undefined));
    const lines = jsonIn(withDigits(value, mark));
    return Array.isArray(lines) ? lines.filter((line) => typeof line === 'string') : [];
  }
}

/** Measures the CPU time of the thread, so that a machine with other work to do changes nothing. */
class CpuTimer {
  #startedAt = 0;
  #cpuAtStart = 0;
  #mostMs = Infinity;
  #wasOver = false;

  start(mostMs: number): void {
    this.#mostMs = mostMs;
    this.#wasOver = false;
    this.#startedAt = performance.now();
    this.#cpuAtStart = threadCpuMs();
  }

  /** Whether more time was used; from then on always. */
  isOver(): boolean {
    // The CPU time is at most the time. That is exact, and the operating system counts CPU time in ticks of some milliseconds.
    if (performance.now() - this.#startedAt <= this.#mostMs) return this.#wasOver;
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
  const body = text.slice(end + 1);
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

/** Also where the script has written the value as JSON into a text: its quotation marks have backslashes then. */
function withDigits(json: string, mark: string): string {
  if (mark === '') return json;
  // Only whole values: the script may write the mark into a key, or into the middle of a text.
  const number = '-?(?:0|[1-9]\\d*)(?:\\.\\d+)?(?:[eE][+-]?\\d+)?';
  return json.replaceAll(
    // A run of backslashes is tried from its beginning alone: else many take quadratic time.
    new RegExp(`(?:(?<=^|[[,:\n])|(?<!\\\\)(\\\\+))"${mark}(${number})\\1"(?!:)`, 'g'),
    (_whole, _slashes, digits: string) => digits,
  );
}
