/** The events of a source's track calls: seen how often, since when, and blocked or not. */
import { useState } from 'preact/hooks';
import { api, ask, type Schema } from '../../api/client.ts';
import { may } from '../../api/session.ts';
import { Action } from '../../parts/action.tsx';
import { Button } from '../../parts/button.tsx';
import { Card, Empty } from '../../parts/card.tsx';
import { confirmed } from '../../parts/dialog.tsx';
import { TextField } from '../../parts/field.tsx';
import { formatCount, formatCounted } from '../../parts/format.ts';
import { attempt } from '../../parts/notes.tsx';
import { usePages } from '../../lists/pager.tsx';
import { Badge } from '../../parts/status.tsx';
import { MainCell, PagedTable, type Column } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { hrefOf } from '../../url/location.ts';
import { isolated } from '../../text/isolated.ts';

const words = {
  blockMessage:
    'Destinations no longer receive these calls. Calls that arrive while the event is blocked are never delivered, even if you unblock it.',
  unblocked: 'Event unblocked. Calls that were blocked are not delivered.',
  other: (count: string) => `Not listed: ${count}, whose event names are too many or too long.`,
};

type SourceEvent = Schema['SourceEvent'];

interface SourceEventsProps {
  readonly id: string;
  /** Called when the source has changed. */
  readonly onChanged: () => Promise<void>;
}

export function SourceEvents({ id, onChanged }: SourceEventsProps) {
  const [other, setOther] = useState<Schema['ListSourceEventsAnswer']['other']>();
  const pages = usePages(`events ${id}`, async (cursor, signal) => {
    const page = await ask(
      api.GET('/v1/sources/{id}/events', {
        signal,
        params: { path: { id }, query: { limit: 100, cursor } },
      }),
    );
    setOther(page.other);
    return page;
  });
  const onDone = () => Promise.all([pages.reload(), onChanged()]);
  return (
    <div class="stack">
      <p class="quiet">The last 90 days, by name. Blocked events are not delivered to any destination.</p>
      <PagedTable
        label="Track events"
        columns={columnsOf(id, onDone)}
        pages={pages}
        keyOf={({ event }) => event}
        empty={
          <Empty
            title="No events yet"
            lead="Track events appear here by name, with counts. The Connect tab has a snippet to send one."
          />
        }
      />
      {other && (
        <p class="quiet small">{words.other(formatCounted(other.count, 'more call', 'more calls'))}</p>
      )}
      {/* After the list, which would move it. */}
      {may('write') && !pages.isFirst && <BlockByName id={id} onDone={onDone} />}
    </div>
  );
}

function columnsOf(source: string, onDone: () => unknown): readonly Column<SourceEvent>[] {
  const seen = (at: string | undefined) => (at === undefined ? 'never' : <Time at={at} />);
  return [
    {
      title: 'Event',
      kind: 'main',
      cell: ({ event, blocked }) => (
        <MainCell
          below={
            <>
              {blocked && <Badge tone="warning">blocked</Badge>}
              {may('write') && <Block source={source} event={event} blocked={blocked} onDone={onDone} />}
            </>
          }
        >
          <a class="row-link" href={hrefOf(['deliveries'], { source, event })}>
            {event}
          </a>
        </MainCell>
      ),
    },
    { title: 'Calls', kind: 'number', cell: ({ count }) => formatCount(count) },
    { title: 'Blocked calls', kind: 'number', cell: ({ filtered }) => formatCount(filtered) },
    { title: 'First seen', cell: ({ firstSeenAt }) => seen(firstSeenAt) },
    { title: 'Last seen', cell: ({ lastSeenAt }) => seen(lastSeenAt) },
  ];
}

interface BlockProps extends Pick<SourceEvent, 'event' | 'blocked'> {
  readonly source: string;
  readonly onDone: () => unknown;
}

function Block({ source, event, blocked, onDone }: BlockProps) {
  return blocked ? (
    <Action
      small
      label={`Unblock ${event}`}
      request={() => unblock(source, event)}
      done={words.unblocked}
      after={onDone}
    >
      Unblock
    </Action>
  ) : (
    <Button small label={`Block ${event}`} onClick={() => block(source, event, onDone)}>
      Block
    </Button>
  );
}

/** Resolves with whether it was done. */
async function block(id: string, event: string, onDone: () => unknown): Promise<boolean> {
  const asked = { title: `Block "${isolated(event)}"?`, message: words.blockMessage, action: 'Block' };
  if (!(await confirmed({ ...asked, danger: true }))) return false;
  const params = { path: { id }, query: { event } };
  const blocked = await attempt(
    () => ask(api.PUT('/v1/sources/{id}/blocked-events', { params })),
    'Event blocked. The change takes effect within two seconds.',
    async () => {
      await attempt(() => unblock(id, event), words.unblocked);
      await onDone();
    },
  );
  await onDone();
  return blocked !== undefined;
}

function unblock(id: string, event: string): Promise<unknown> {
  const params = { path: { id }, query: { event } };
  return ask(api.DELETE('/v1/sources/{id}/blocked-events', { params }));
}

function BlockByName({ id, onDone }: { readonly id: string; readonly onDone: () => unknown }) {
  const [event, setEvent] = useState('');
  return (
    <Card title="Block an event by name">
      <form
        class="stack form"
        onSubmit={(submitted) => {
          submitted.preventDefault();
          void block(id, event, onDone).then((isDone) => isDone && setEvent(''));
        }}
      >
        <TextField
          label="Event"
          hint="The exact name. It does not have to be in the list."
          value={event}
          onValue={setEvent}
          required
        />
        <div class="row">
          <Button type="submit" kind="danger">
            Block
          </Button>
        </div>
      </form>
    </Card>
  );
}
