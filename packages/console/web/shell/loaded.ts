/** Code that is loaded when it is first shown. */
import { useEffect, useState } from 'preact/hooks';

/** By what loads them. */
const modules = new Map<unknown, unknown>();

interface Loaded<Module> {
  /** Undefined until it is loaded for the first time. */
  readonly module: Module | undefined;
  readonly error: unknown;
}

/** @param load is the same function each time */
export function useLoaded<Module>(load: () => Promise<Module>): Loaded<Module> {
  const [loaded, setLoaded] = useState<{ readonly error?: unknown }>({});
  useEffect(() => {
    if (modules.has(load)) return;
    load().then(
      (module) => {
        modules.set(load, module);
        setLoaded({});
      },
      (error: unknown) => setLoaded({ error }),
    );
  }, [load]);
  return { module: modules.get(load) as Module | undefined, error: loaded.error };
}
