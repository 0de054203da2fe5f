/** The replays, newest first, with their progress. */
import { useEffect, useRef } from 'preact/hooks';
import { api, ask, type Schema } from '../../api/client.ts';
import type { Resource } from '../../api/resource.ts';
import { may } from '../../api/session.ts';
import { Action } from '../../parts/action.tsx';
import { Empty } from '../../parts/card.tsx';
import { formatCount } from '../../parts/format.ts';
import { Reason, Status } from '../../parts/status.tsx';
import { MainCell, Table } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';

type Replay = Schema['Replay'];

/** Whether the replay has not ended. */
export function isActive({ endedAt }: Pick<Replay, 'endedAt'>): boolean {
  return endedAt === undefined;
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
      label="Replays"
      items={items}
      error={resource.error}
      keyOf={({ id }) => id}
      empty={<Empty title="No replays yet" />}
      columns={[
        {
          title: 'Destination',
          kind: 'main',
          cell: (replay) => (
            <MainCell
              below={
                <>
                  <Status of={replay.state} />
                  <Actions replay={replay} onDone={resource.reload} />
                </>
              }
            >
              <Filter filter={replay.filter} />
            </MainCell>
          ),
        },
        { title: 'Progress', kind: 'wrap', cell: (replay) => <Progress replay={replay} /> },
        { title: 'Kind', cell: ({ kind }) => (kind === 'events' ? 'events' : 'dead letters') },
        { title: 'Started', cell: ({ startedAt }) => <Time at={startedAt} /> },
      ]}
    />
  );
}

function Filter({ filter }: Pick<Replay, 'filter'>) {
  const { destination, reason, ...rest } = filter;
  const others = Object.entries(rest).map(
    ([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  return (
    <>
      {destination ?? 'All destinations'}
      {reason !== undefined && (
        <>
          : <Reason of={reason} />
        </>
      )}
      {others.length > 0 && ` (${others.join(', ')})`}
    </>
  );
}

function Progress({ replay: { due = 0, replayed, failure } }: { readonly replay: Replay }) {
  if (failure) return <>{failure.message}</>;
  const said = `${formatCount(replayed)} of ${formatCount(due)}`;
  return (
    <label class="row">
      <progress class="progress" max={Math.max(1, due)} value={replayed} aria-label="Progress" />
      <span class="numeric small">{said}</span>
    </label>
  );
}

function Actions({ replay, onDone }: { readonly replay: Replay; readonly onDone: () => unknown }) {
  if (!isActive(replay) || !may('write')) return null;
  const params = { path: { id: replay.id } };
  const isPaused = replay.state === 'paused';
  return (
    <>
      <Action
        small
        request={() =>
          ask(
            isPaused
              ? api.POST('/v1/replays/{id}/resume', { params })
              : api.POST('/v1/replays/{id}/pause', { params }),
          )
        }
        done={isPaused ? 'Continuing the replay.' : 'Pausing the replay.'}
        after={onDone}
      >
        {isPaused ? 'Resume' : 'Pause'}
      </Action>
      <Cancel params={params} onDone={onDone} />
    </>
  );
}

interface CancelProps {
  readonly params: { readonly path: { readonly id: string } };
  readonly onDone: () => unknown;
}

function Cancel({ params, onDone }: CancelProps) {
  return (
    <Action
      small
      kind="danger"
      question={{
        title: 'Cancel replay',
        message: 'Deliveries that were already replayed are not undone. You can replay the rest later.',
        action: 'Cancel replay',
      }}
      request={() => ask(api.DELETE('/v1/replays/{id}', { params }))}
      done="Canceling the replay."
      after={onDone}
    >
      Cancel
    </Action>
  );
}
