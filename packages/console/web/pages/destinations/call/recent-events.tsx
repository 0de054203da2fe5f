/** The latest events of some sources, one of which is chosen. */
import { api, ask, get, type Schema } from '../../../api/client.ts';
import { useResource } from '../../../api/resource.ts';
import { session } from '../../../api/session.ts';
import { Button } from '../../../parts/button.tsx';
import { Empty } from '../../../parts/card.tsx';
import { Dialog } from '../../../parts/dialog.tsx';
import { useSubmission } from '../../../parts/form.ts';
import { indentJson } from '../../../parts/json-text.ts';
import { ErrorNote } from '../../../parts/notes.tsx';
import { Table, type Column } from '../../../parts/table.tsx';
import { Ago } from '../../../parts/time.tsx';

type Delivery = Schema['Delivery'];

const maxShown = 20;
/** Each is a request. */
const maxSources = 5;

interface RecentEventsProps {
  readonly sources: readonly string[];
  /** Gets the event as a call. */
  readonly onCall: (call: string) => void;
  readonly onClose: () => void;
}

export function RecentEvents({ sources, onCall, onClose }: RecentEventsProps) {
  const { data, error, reload } = useResource(`recent ${sources.join(' ')}`, (signal) =>
    loadRecent(sources, signal),
  );
  const submission = useSubmission();
  const use = ({ eventId }: Delivery): Promise<boolean> =>
    submission.run(async () => {
      const params = { path: { eventId } };
      onCall(indentJson((await ask(api.GET('/v1/events/{eventId}/call', { params }))).text));
    });
  const columns: readonly Column<Delivery>[] = [
    {
      // First, so that it is seen where the table is wider than the window.
      title: 'Actions',
      cell: (delivery) => (
        <Button small label={`Use ${delivery.event ?? delivery.type}`} onClick={() => use(delivery)}>
          Use
        </Button>
      ),
    },
    { title: 'Event', kind: 'wrap', cell: ({ event, type }) => event ?? type },
    { title: 'Time', cell: ({ createdAt }) => <Ago at={createdAt} /> },
    { title: 'Source', cell: ({ sourceId }) => sourceId },
    { title: 'User', kind: 'wrap', cell: ({ userKey }) => userKey },
  ];
  return (
    <Dialog title="Use a recent event" onClose={onClose}>
      <div class="stack tight">
        <p class="quiet">The latest events from the sources of this destination.</p>
        <ErrorNote error={submission.error} />
        <Table
          label="Recent events"
          columns={columns}
          items={data}
          error={error}
          onRetry={reload}
          keyOf={({ deliveryId }) => deliveryId}
          empty={
            <Empty
              title="No recent events"
              lead="Events appear here when the sources of this destination have sent some."
            />
          }
        />
      </div>
      <div class="actions">
        <Button onClick={onClose}>Cancel</Button>
      </div>
    </Dialog>
  );
}

async function loadRecent(sources: readonly string[], signal: AbortSignal): Promise<readonly Delivery[]> {
  // A token may reach a destination, and not all of its sources.
  const reached = session.value?.sources;
  const pages = await Promise.all(
    sources
      .filter((id) => reached?.includes(id) ?? true)
      .slice(0, maxSources)
      .map((source) => get('/v1/deliveries', { query: { source, limit: maxShown } }, signal)),
  );
  const newest = pages
    .flatMap(({ items }) => items)
    .toSorted((one, other) => other.createdAt.localeCompare(one.createdAt));
  // An event has a delivery for each destination.
  const events = new Map(newest.map((one) => [`${one.sourceId} ${one.eventId}`, one]));
  return [...events.values()].slice(0, maxShown);
}
