/** What a run of a transform takes and gives. */

/** `cpuMs` of CPU time for a run, and `loadCpuMs` for the script before the first one. Sizes are in bytes of UTF-8. */
export const transformLimits = {
  cpuMs: 10,
  loadCpuMs: 50,
  memoryBytes: 16 * 2 ** 20,
  resultBytes: 64 * 1024,
  headers: 5,
  logLines: 100,
  logCharacters: 16 * 1024,
} as const;

export interface TransformRun {
  /** The id of the destination. */
  readonly owner: string;
  /** The id of the source of the event. Sources take turns, and so do the owners of each. Default: the owner. */
  readonly source?: string;
  /** The script, which ends with the function or declares it as `transform`. */
  readonly code: string;
  /** The argument of the function, as JSON: a webhook body. Its `timestamp` is the time that the function sees. */
  readonly event: string;
  /** Whether what the function writes to the console is kept. Default false. */
  readonly keepLogs?: boolean;
}

export interface TransformFailure {
  readonly message: string;
  /** In the script, from 1; undefined where it is not known. */
  readonly line?: number | undefined;
  /** Only where the script cannot be loaded, or has no function, so that all its runs fail. */
  readonly isOfScript?: boolean;
  /** Only where it has used too much CPU time; harmful where it could not be ended in time, or has ended QuickJS. */
  readonly isTooLong?: boolean;
  readonly isHarmful?: boolean;
}

interface Ran {
  /** CPU time in milliseconds. */
  readonly cpuMs: number;
  /** Lines of the console. */
  readonly logs: readonly string[];
}

export type TransformResult =
  | (Ran & {
      readonly outcome: 'body';
      /** JSON. */
      readonly body: string;
      readonly headers?: Readonly<Record<string, string>> | undefined;
      /** The index of the only URL that the body is sent to. */
      readonly url?: number | undefined;
    })
  | (Ran & { readonly outcome: 'filtered' })
  | (Ran & { readonly outcome: 'failed'; readonly error: TransformFailure });

/** The failure as one text, for a dead letter: `TypeError: not a function (line 3)`. */
export function failureText({ message, line }: TransformFailure): string {
  return line === undefined ? message : `${message} (line ${line})`;
}

/** What a thread says when it can run transforms; then it answers each run. */
export const ready = 'ready';
