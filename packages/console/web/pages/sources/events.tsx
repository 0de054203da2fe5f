/** The events of a source's track calls: seen how often, since when, and blocked or not. */
import { useState } from 'preact/hooks';
import { api, ask, type Schema } from '../../api/client.ts';
import { may } from '../../api/session.ts';
import { Action } from '../../parts/action.tsx';
import { Button } from '../../parts/button.tsx';
import { Card, Empty } from '../../parts/card.tsx';
import { confirmed } from '../../parts/dialog.tsx';
import { TextField } from '../../parts/field.tsx';
import { formatCount } from '../../parts/format.ts';
import { attempt } from '../../parts/notes.tsx';
import { usePages } from '../../lists/pager.tsx';
import { Badge } from '../../parts/status.tsx';
import { PagedTable, type Column } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { text } from '../../text/index.ts';
import { hrefOf } from '../../url/location.ts';

const words = text.sources;
type SourceEvent = Schema['SourceEvent'];

export function SourceEvents({ id }: { readonly id: string }) {
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
  return (
    <div class="stack">
      <p class="quiet">{words.eventsLead}</p>
      <PagedTable
        label={words.events}
        columns={columnsOf(id, pages.reload)}
        pages={pages}
        keyOf={({ event }) => event}
        empty={<Empty title={words.eventsEmpty} lead={words.eventsEmptyLead} />}
      />
      {other && <p class="quiet small">{words.other(formatCount(other.count))}</p>}
      {/* After the list, which would move it. */}
      {may('write') && !pages.isFirst && <BlockByName id={id} onDone={pages.reload} />}
    </div>
  );
}

function columnsOf(source: string, onDone: () => unknown): readonly Column<SourceEvent>[] {
  const seen = (at: string | undefined) => (at === undefined ? words.never : <Time at={at} />);
  const columns: Column<SourceEvent>[] = [
    {
      title: words.event,
      kind: 'wrap',
      cell: ({ event, blocked }) => (
        <span class="row">
          <a class="row-link" href={hrefOf(['deliveries'], { source, event })}>
            {event}
          </a>
          {blocked && <Badge tone="warning">{words.blocked}</Badge>}
        </span>
      ),
    },
    { title: words.count, kind: 'number', cell: ({ count }) => formatCount(count) },
    { title: words.filtered, kind: 'number', cell: ({ filtered }) => formatCount(filtered) },
    { title: words.firstSeen, cell: ({ firstSeenAt }) => seen(firstSeenAt) },
    { title: words.lastSeen, cell: ({ lastSeenAt }) => seen(lastSeenAt) },
  ];
  if (!may('write')) return columns;
  const action: Column<SourceEvent> = {
    title: text.common.actions,
    cell: ({ event, blocked }) =>
      blocked ? (
        <Action
          small
          label={`${words.unblock} ${event}`}
          request={() => {
            const params = { path: { id: source }, query: { event } };
            return ask(api.DELETE('/v1/sources/{id}/blocked-events', { params }));
          }}
          done={words.unblockDone}
          after={onDone}
        >
          {words.unblock}
        </Action>
      ) : (
        <Button small label={`${words.block} ${event}`} onClick={() => block(source, event, onDone)}>
          {words.block}
        </Button>
      ),
  };
  return [...columns, action];
}

async function block(id: string, event: string, onDone: () => unknown): Promise<void> {
  const asked = { title: words.blockTitle(event), message: words.blockMessage, action: words.block };
  if (!(await confirmed({ ...asked, danger: true }))) return;
  const params = { path: { id }, query: { event } };
  await attempt(() => ask(api.PUT('/v1/sources/{id}/blocked-events', { params })), words.blockDone);
  await onDone();
}

function BlockByName({ id, onDone }: { readonly id: string; readonly onDone: () => unknown }) {
  const [event, setEvent] = useState('');
  return (
    <Card title={words.blockName}>
      <form
        class="stack form"
        onSubmit={(submitted) => {
          submitted.preventDefault();
          void block(id, event, onDone).then(() => {
            setEvent('');
          });
        }}
      >
        <TextField label={words.event} hint={words.blockNameHint} value={event} onValue={setEvent} required />
        <div class="row">
          <Button type="submit" kind="danger">
            {words.block}
          </Button>
        </div>
      </form>
    </Card>
  );
}
