/** Counts what a replay would send, before it is started. */
import { useEffect, useState } from 'preact/hooks';
import { api, ApiError, ask, type Schema } from '../../api/client.ts';
import { isActive } from './list.tsx';

type Order = Schema['ReplayInput'];

export interface DryRun {
  /** Undefined until it is counted. */
  readonly count?: Schema['Replay'];
  /** Of events: what is known at once. */
  readonly estimate?: number | undefined;
  readonly oldestEventAt?: string | undefined;
  readonly error?: ApiError;
}

const askEveryMs = 500;

/** @param order undefined: nothing is counted yet. Another one is counted instead */
export function useDryRun(order: Order | undefined): DryRun {
  const [found, setFound] = useState<DryRun>({});
  useEffect(() => {
    if (!order) return undefined;
    let isClosed = false;
    let running: string | undefined;
    const show = (dryRun: DryRun): void => {
      if (!isClosed) setFound(dryRun);
    };
    const run = async (): Promise<void> => {
      show({});
      const started = await ask(api.POST('/v1/replays', { body: { ...order, dryRun: true } }));
      const { id, estimate, oldestEventAt } = started;
      const atOnce = { estimate: estimate?.events, oldestEventAt };
      show(atOnce);
      running = id;
      if (isClosed) interrupt(id);
      let replay: Schema['Replay'] = started;
      while (!isClosed && isActive(replay)) {
        await new Promise((resolve) => setTimeout(resolve, askEveryMs));
        replay = await ask(api.GET('/v1/replays/{id}', { params: { path: { id } } }));
      }
      if (!isActive(replay)) running = undefined;
      show({ ...atOnce, count: replay });
    };
    run().catch((error: unknown) => {
      if (error instanceof ApiError) show({ error });
    });
    return () => {
      isClosed = true;
      if (running !== undefined) interrupt(running);
    };
  }, [JSON.stringify(order)]);
  return found;
}

/** A count that nobody waits for would keep its place among the replays. */
function interrupt(id: string): void {
  void ask(api.DELETE('/v1/replays/{id}', { params: { path: { id } } })).catch(() => undefined);
}
