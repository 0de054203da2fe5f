/** Counts what a replay would send, before it is started. */
import { useEffect, useState } from 'preact/hooks';
import { api, ApiError, ask, type Schema } from '../../api/client.ts';
import { isActive } from './list.tsx';

type Order = Schema['ReplayInput'];

export interface DryRun {
  /** Undefined until it is counted. */
  readonly count?: Schema['Replay'];
  /** Of events: at most so many, at once. */
  readonly estimate?: number | undefined;
  readonly error?: ApiError;
}

const askEveryMs = 500;

/** @param order undefined: nothing is counted yet. Another one is counted instead */
export function useDryRun(order: Order | undefined): DryRun {
  const [found, setFound] = useState<DryRun>({});
  useEffect(() => {
    if (!order) return undefined;
    let isClosed = false;
    const show = (dryRun: DryRun): void => {
      if (!isClosed) setFound(dryRun);
    };
    const run = async (): Promise<void> => {
      show({});
      const started = await ask(api.POST('/v1/replays', { body: { ...order, dryRun: true } }));
      show({ estimate: started.estimate?.events });
      let replay: Schema['Replay'] = started;
      while (!isClosed && isActive(replay)) {
        await new Promise((resolve) => setTimeout(resolve, askEveryMs));
        replay = await ask(api.GET('/v1/replays/{id}', { params: { path: { id: replay.id } } }));
      }
      show({ count: replay });
    };
    run().catch((error: unknown) => {
      if (error instanceof ApiError) show({ error });
    });
    return () => {
      isClosed = true;
    };
  }, [JSON.stringify(order)]);
  return found;
}
