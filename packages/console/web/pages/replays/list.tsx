/** The replays, newest first, with their progress. */
import { useEffect, useRef } from 'preact/hooks';
import { api, ask, type Schema } from '../../api/client.ts';
import type { Resource } from '../../api/resource.ts';
import { may } from '../../api/session.ts';
import { Action } from '../../parts/action.tsx';
import { Empty } from '../../parts/card.tsx';
import { formatCount } from '../../parts/format.ts';
import { Reason, Status } from '../../parts/status.tsx';
import { Table } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { text } from '../../text/index.ts';

const words = text.replays;
type Replay = Schema['Replay'];

/** Whether the replay has not ended. */
export function isActive({ state }: Replay): boolean {
  return state === 'counting' || state === 'running';
}

interface ReplaysProps {
  readonly resource: Omit<Resource<{ readonly items: readonly Replay[] }>, 'set'>;
  /** Called when a running replay has ended. */
  readonly onEnd: () => unknown;
}

export function Replays({ resource, onEnd }: ReplaysProps) {
  const items = resource.data?.items.filter(({ dryRun }) => !dryRun);
  const running = items?.filter(isActive).length ?? 0;
  const before = useRef(running);
  useEffect(() => {
    if (running < before.current) void onEnd();
    before.current = running;
  }, [running]);
  return (
    <Table
      label={words.running}
      items={items}
      error={resource.error}
      keyOf={({ id }) => id}
      empty={<Empty title={words.none} />}
      columns={[
        { title: words.startedAt, cell: ({ startedAt }) => <Time at={startedAt} /> },
        { title: words.destination, kind: 'wrap', cell: ({ filter }) => <Filter filter={filter} /> },
        { title: text.deliveries.status, cell: ({ state }) => <Status of={state} /> },
        { title: words.progress, cell: (replay) => <Progress replay={replay} /> },
        {
          title: text.common.actions,
          cell: (replay) => <Cancel replay={replay} onDone={resource.reload} />,
        },
      ]}
    />
  );
}

function Filter({ filter }: Pick<Replay, 'filter'>) {
  const { destination, reason, ...rest } = filter;
  const others = Object.entries(rest).map(([name, value]) => `${name}: ${value}`);
  return (
    <>
      {destination ?? words.all} {reason !== undefined && <Reason of={reason} />} {others.join(', ')}
    </>
  );
}

function Progress({ replay: { due = 0, replayed, failure } }: { readonly replay: Replay }) {
  if (failure) return <span class="breakable">{failure.message}</span>;
  const said = words.of(formatCount(replayed), formatCount(due));
  return (
    <label class="row">
      <progress class="progress" max={Math.max(1, due)} value={replayed} aria-label={words.progress} />
      <span class="numeric small">{said}</span>
    </label>
  );
}

function Cancel({ replay, onDone }: { readonly replay: Replay; readonly onDone: () => unknown }) {
  if (!isActive(replay) || !may('write')) return null;
  return (
    <Action
      small
      kind="danger"
      question={{ title: words.cancelThis, message: words.cancelAsk, action: words.cancelThis }}
      request={() => ask(api.DELETE('/v1/replays/{id}', { params: { path: { id: replay.id } } }))}
      done={words.cancelled}
      after={onDone}
    >
      {words.cancel}
    </Action>
  );
}
