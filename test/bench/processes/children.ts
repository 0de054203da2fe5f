/** Processes of the bench: the receiver and the bare parts. They end with the process that started them. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';

export interface Child<Out, In extends { readonly kind: string }> extends AsyncDisposable {
  readonly pid: number;
  send(message: Out): void;
  /**
   * Resolves with the oldest unreceived message of this kind. Rejects when the process ends, or
   * after `timeoutMs`.
   */
  receive<Kind extends In['kind']>(
    kind: Kind,
    timeoutMs: number,
  ): Promise<Extract<In, { readonly kind: Kind }>>;
}

const stopsWithinMs = 5_000;

/** Runs `file` of test/bench. Its standard output is sent to standard error, so that standard output has only the report. */
export function startChild<Out, In extends { readonly kind: string }>(
  file: string,
  args: readonly string[] = [],
): Child<Out, In> {
  const child = fork(path.join(import.meta.dirname, '..', file), args, {
    serialization: 'advanced',
    execArgv: ['--disable-warning=TimeoutNegativeWarning'],
    stdio: ['ignore', 2, 2, 'ipc'],
  });
  const received: In[] = [];
  const waiting = new Set<() => void>();
  const look = (): void => {
    for (const check of [...waiting]) check();
  };
  child.on('message', (message) => {
    received.push(message as In);
    look();
  });
  child.on('exit', look);
  const hasEnded = (): boolean => child.exitCode !== null || child.signalCode !== null;

  return {
    pid: child.pid ?? NaN,
    send(message) {
      child.send(message as object);
    },
    receive: (kind, timeoutMs) =>
      new Promise((resolve, reject) => {
        const settle = (): void => {
          clearTimeout(timer);
          waiting.delete(check);
        };
        const check = (): void => {
          const index = received.findIndex((message) => message.kind === kind);
          if (index >= 0) {
            settle();
            resolve(received.splice(index, 1)[0] as Extract<In, { readonly kind: typeof kind }>);
          } else if (hasEnded()) {
            settle();
            reject(new Error(`${file} ended before it said "${kind}"`));
          }
        };
        const timer = setTimeout(() => {
          settle();
          reject(new Error(`${file} did not say "${kind}" within ${timeoutMs} ms`));
        }, timeoutMs);
        waiting.add(check);
        check();
      }),
    async [Symbol.asyncDispose]() {
      if (hasEnded()) return;
      const ended = once(child, 'exit');
      if (child.connected) child.disconnect();
      const timer = setTimeout(() => child.kill('SIGKILL'), stopsWithinMs);
      await ended;
      clearTimeout(timer);
    },
  };
}

/** For the child: ends this process with its parent, and returns a function that sends messages to it. */
export function connectToParent(): (message: object) => void {
  process.on('disconnect', () => process.exit());
  return (message) => {
    process.send?.(message);
  };
}
