/** Sends past events to a destination again: `#/replays/+events?destination=crm`. */
import { useState } from 'preact/hooks';
import { api, ask, type Schema } from '../../api/client.ts';
import { may } from '../../api/session.ts';
import { Button, Choices, LinkButton } from '../../parts/button.tsx';
import { Card, PageHead } from '../../parts/card.tsx';
import { fieldsOf } from '../../parts/entry-form.tsx';
import { ChoiceField, TextField } from '../../parts/field.tsx';
import { formatCount } from '../../parts/format.ts';
import { attempt, ErrorNote } from '../../parts/notes.tsx';
import { go, hrefOf, type PageProps } from '../../url/location.ts';
import { filterTypes } from '../destinations/filter/draft.ts';
import { useDryRun, type DryRun } from './dry-run.ts';
import { draftOf, orderOf, unusedOf, type Draft } from './selection.ts';

const words = {
  lead: 'Events are routed again with the present configuration of the destination, as far back as Kafka keeps them.',
  modes: {
    missing: 'What it was not sent',
    all: 'All events',
  },
  modeHint:
    'What it was not sent includes dead letters. Choose all if the receiver has lost what it accepted: these deliveries have new ids.',
  periodHint: 'A time (2026-05-01T08:30Z) or a duration before now (1d, 2h).',
  unused: (names: readonly string[]) =>
    `The list's filter by ${names.join(' and ')} does not apply to a replay.`,
  conditionHint: 'Empty: all. JSON, as in the filter of a destination.',
  due: (count: string) =>
    count === '1' ? '1 event will be sent.' : `${count} events will be sent, each once.`,
  counting: (most: string | undefined) =>
    most === undefined ? 'Counting …' : `Counting … At most ${most} events.`,
  overlaps: (count: number) =>
    count === 1
      ? 'Another replay may send the same events.'
      : `${count} other replays may send the same events.`,
};

const modes = Object.entries(words.modes) as readonly [Draft['mode'], string][];

export function SendEvents({ query }: Pick<PageProps, 'query'>) {
  const [draft, setDraft] = useState(() => draftOf(query));
  const [rate, setRate] = useState('50');
  const [asked, setAsked] = useState<Schema['ReplayInput']>();
  const field = fieldsOf(draft, setDraft);
  const order = orderOf(draft);
  const unused = unusedOf(query);
  const isAsked = order !== undefined && JSON.stringify(order) === JSON.stringify(asked);
  const dryRun = useDryRun(isAsked ? asked : undefined);
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
        <div class="stack">
          {unused.length > 0 && <p>{words.unused(unused)}</p>}
          <TextField label="Destination" {...field('destination')} required />
          <TextField label="Source" hint="Empty: all of the destination." {...field('source')} />
          <TextField label="From" hint={words.periodHint} {...field('from')} required />
          <TextField label="Until" hint="Empty: now." {...field('until')} />
          <ChoiceField
            label="Type"
            {...field('type')}
            choices={[['', 'any'], ...filterTypes.map((type) => [type, type] as const)]}
          />
          <TextField label="Event" hint="Empty: all. * stands for any text." {...field('event')} />
          <TextField label="User" hint="Empty: all." {...field('userId')} />
          <TextField
            label="Condition"
            hint={words.conditionHint}
            {...field('condition')}
            lines={3}
            problem={order ? undefined : 'Enter a JSON object.'}
          />
          <div class="field">
            <Choices
              label="Send"
              choices={modes}
              current={draft.mode}
              onChoose={(mode) => {
                const changed = { ...draft, mode };
                setDraft(changed);
                if (draft.destination !== '') setAsked(orderOf(changed));
              }}
            />
            <p class="hint">{words.modeHint}</p>
          </div>
          <TextField
            label="Per second"
            hint="Limits the load on the receiver."
            value={rate}
            onValue={setRate}
          />
          <p role="status">
            <strong>{isAsked ? resultOf(dryRun) : ''}</strong>
            {isAsked && overlaps > 0 && ` ${words.overlaps(overlaps)}`}
          </p>
          <ErrorNote error={isAsked ? dryRun.error : undefined} />
        </div>
        <div class="actions">
          <LinkButton href={hrefOf(['replays'])}>Cancel</LinkButton>
          {may('write') &&
            (due === 0 ? (
              <Button
                kind="main-action"
                disabled={draft.destination === '' || !order}
                onClick={() => setAsked(order)}
              >
                Count events
              </Button>
            ) : (
              <Button kind="main-action" onClick={start}>
                Start replay
              </Button>
            ))}
        </div>
      </Card>
    </div>
  );
}

function resultOf({ count, estimate, error }: DryRun): string {
  if (error) return '';
  if (!count) return words.counting(estimate === undefined ? undefined : formatCount(estimate));
  if (count.failure) return count.failure.message;
  const { due = 0 } = count;
  return due === 0 ? 'Nothing to send.' : words.due(formatCount(due));
}
