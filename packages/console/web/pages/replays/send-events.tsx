/** Sends past events to a destination again: `#/replays/+events?destination=crm`. */
import { useState } from 'preact/hooks';
import { api, ask, type Schema } from '../../api/client.ts';
import { may } from '../../api/session.ts';
import { Button, Choices, LinkButton } from '../../parts/button.tsx';
import { Card, PageHead } from '../../parts/card.tsx';
import { fieldsOf } from '../../parts/entry-form.tsx';
import { ChoiceField, TextField } from '../../parts/field.tsx';
import { formatCount, formatCounted, formatDuration } from '../../parts/format.ts';
import { attempt, ErrorNote } from '../../parts/notes.tsx';
import { Table } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { EntryField } from '../../lists/entry-choice.tsx';
import { PeriodFields } from '../../lists/period-fields.tsx';
import { go, hrefOf, type PageProps } from '../../url/location.ts';
import { filterTypes } from '../destinations/filter/draft.ts';
import { useDryRun, type DryRun } from './dry-run.ts';
import { draftOf, orderOf, periodOf, unusedOf, type Draft } from './selection.ts';

const words = {
  lead: 'Events are routed again with the current configuration of the destination, as far back as Kafka keeps them.',
  modes: {
    missing: 'Missed events',
    all: 'All events',
  },
  modeHint:
    'Missed events include dead letters. Choose all events if the receiver has lost what it accepted. Those deliveries have new ids.',
  unused: (names: readonly string[]) =>
    `The list's filter by ${names.join(' and ')} does not apply to a replay.`,
  conditionHint: 'JSON, as in the filter of a destination. Leave empty for all events.',
  counting: (about: string | undefined) =>
    about === undefined ? 'Counting …' : `Counting … About ${about} events.`,
  overlaps: (count: number) =>
    count === 1
      ? 'Another replay may send the same events.'
      : `${count} other replays may send the same events.`,
};

const mostPerSecond = 100_000;
const modes = Object.entries(words.modes) as readonly [Draft['mode'], string][];

export function SendEvents({ query }: Pick<PageProps, 'query'>) {
  const [draft, setDraft] = useState(() => draftOf(query));
  const [rate, setRate] = useState('50');
  const [asked, setAsked] = useState<Schema['ReplayInput']>();
  const [period, setPeriod] = useState(() => periodOf(query));
  const field = fieldsOf(draft, setDraft);
  const order = orderOf(draft, period);
  const unused = unusedOf(query);
  const isAsked = order !== undefined && JSON.stringify(order) === JSON.stringify(asked);
  // The time that it is told then is that of the destination's own limit.
  const dryRun = useDryRun(isAsked ? { ...asked, ratePerSecond: mostPerSecond } : undefined);
  const due = isAsked ? (dryRun.count?.due ?? 0) : 0;
  const overlaps = dryRun.count?.overlaps?.length ?? 0;
  const start = async (): Promise<void> => {
    const body = { ...order, ratePerSecond: Number(rate), allowOverlap: overlaps > 0 };
    if (await attempt(() => ask(api.POST('/v1/replays', { body })), 'Replay started.')) go(['replays']);
  };
  return (
    <div class="stack">
      <PageHead title="Send past events" lead={words.lead} />
      <Card>
        <div class="stack form">
          {unused.length > 0 && <p>{words.unused(unused)}</p>}
          <EntryField path="/v1/destinations" label="Destination" {...field('destination')} required />
          <EntryField
            path="/v1/sources"
            label="Source"
            hint="Leave empty for all sources of the destination."
            {...field('source')}
          />
          <PeriodFields query={period} typed={period} onTyped={setPeriod} isBounded />
          <ChoiceField
            label="Type"
            {...field('type')}
            choices={[['', 'any'], ...filterTypes.map((type) => [type, type] as const)]}
          />
          <TextField label="Event" hint="Leave empty for all. * matches any text." {...field('event')} />
          <TextField label="User" hint="Leave empty for all." {...field('userId')} />
          <TextField
            label="Condition"
            hint={words.conditionHint}
            {...field('condition')}
            lines={3}
            problem={order ? undefined : 'Enter a JSON object.'}
          />
          <div class="field">
            <span class="label" aria-hidden="true">
              Send
            </span>
            <Choices
              label="Send"
              choices={modes}
              current={draft.mode}
              onChoose={(mode) => {
                const changed = { ...draft, mode };
                setDraft(changed);
                if (draft.destination !== '') setAsked(orderOf(changed, period));
              }}
            />
            <p class="hint">{words.modeHint}</p>
          </div>
          <TextField
            label="Max events per second"
            hint="Limits the load on the receiver."
            value={rate}
            onValue={setRate}
          />
          <p role="status">
            <strong>{isAsked ? resultOf(dryRun, Number(rate)) : ''}</strong>
            {isAsked && overlaps > 0 && ` ${words.overlaps(overlaps)}`}
            {isAsked && dryRun.oldestEventAt !== undefined && (
              <span class="quiet small">
                {' '}
                The oldest event in Kafka is from <Time at={dryRun.oldestEventAt} />.
              </span>
            )}
          </p>
          <ErrorNote error={isAsked ? dryRun.error : undefined} />
          <div class="row">
            {may('write') &&
              (due === 0 ? (
                <Button
                  kind="main-action"
                  disabled={draft.destination === '' || !order?.from}
                  onClick={() => setAsked(order)}
                >
                  Count events
                </Button>
              ) : (
                <Button kind="main-action" onClick={start}>
                  Start replay
                </Button>
              ))}
            <LinkButton href={hrefOf(['replays'])}>Cancel</LinkButton>
          </div>
          {due > 0 && <Counts of={dryRun.count?.eventRows} />}
        </div>
      </Card>
    </div>
  );
}

function Counts({ of }: { readonly of: Schema['Replay']['eventRows'] }) {
  return (
    <Table
      label="Events by day"
      items={of}
      keyOf={({ day, type, event }) => JSON.stringify([day, type, event])}
      empty=""
      columns={[
        { title: 'Day (UTC)', cell: ({ day }) => day },
        { title: 'Event', kind: 'wrap', cell: ({ type, event }) => event ?? type },
        { title: 'Events', kind: 'number', cell: ({ events }) => formatCount(events) },
      ]}
    />
  );
}

function resultOf({ count, estimate, error }: DryRun, rate: number): string {
  if (error) return '';
  if (!count) return words.counting(estimate === undefined ? undefined : formatCount(estimate));
  if (count.failure) return count.failure.message;
  const { due = 0, expectedSeconds = 0 } = count;
  if (due === 0) return 'Nothing to send.';
  const seconds = Math.max(expectedSeconds, Math.ceil(due / rate));
  const time = Number.isFinite(seconds) ? `, in ${formatDuration(seconds * 1_000)} or more` : '';
  return `${formatCounted(due, 'event')} will be sent${time}.`;
}
