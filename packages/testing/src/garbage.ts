import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { eventually } from './eventually.ts';

let collect: (() => void) | undefined;

/** Frees everything that nothing refers to. */
export function collectGarbage(): void {
  if (!collect) {
    setFlagsFromString('--expose-gc');
    collect = runInNewContext('gc') as () => void;
  }
  collect();
}

/** Resolves when nothing refers to any of the objects. */
export async function untilCollected(references: readonly WeakRef<object>[]): Promise<void> {
  await eventually(
    () => {
      collectGarbage();
      return references.filter((reference) => reference.deref() !== undefined).length;
    },
    (left) => left === 0,
  );
}
