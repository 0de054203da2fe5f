/** Gives a service in the process of the test a clock of its own, which is ahead of or behind those of the others. */
import { AsyncLocalStorage } from 'node:async_hooks';

const ahead = new AsyncLocalStorage<number>();
let isInstalled = false;

/** Runs `start`. Whatever it starts, such as servers and timers, sees a time that is `aheadMs` later; negative for earlier. */
export function withOwnClock<T>(aheadMs: number, start: () => T): T {
  install();
  return ahead.run(aheadMs, start);
}

/** Replaces the global `Date`. It stays replaced, and shows the right time to everything that has no clock of its own. */
function install(): void {
  if (isInstalled) return;
  isInstalled = true;
  const RealDate = Date;
  const now = (): number => RealDate.now() + (ahead.getStore() ?? 0);
  globalThis.Date = new Proxy(RealDate, {
    get: (target, name, receiver) =>
      name === 'now' ? now : (Reflect.get(target, name, receiver) as unknown),
    construct: (target, values: unknown[], made) =>
      Reflect.construct(target, values.length === 0 ? [now()] : values, made) as object,
  });
}
