/** Sends past events to a destination again: `#/replays/+events?destination=crm`. */
import { useState } from 'preact/hooks';
import { api, ask, type Schema } from '../../api/client.ts';
import { may } from '../../api/session.ts';
import { Button, LinkButton } from '../../parts/button.tsx';
import { Card, PageHead } from '../../parts/card.tsx';
import { ChoiceField, TextField } from '../../parts/field.tsx';
import { formatCount } from '../../parts/format.ts';
import { attempt, ErrorNote } from '../../parts/notes.tsx';
import { go, hrefOf, type PageProps } from '../../url/location.ts';
import { conditionIn } from '../destinations/filter/draft.ts';
import { useDryRun, type DryRun } from './dry-run.ts';

const words = {
  lead: 'Events are routed again with the present configuration of the destination, as far back as Kafka keeps them.',
  modes: {
    missing: 'Events that it was not sent, and dead letters',
    all: 'All events, as new deliveries',
  },
  modeHint: 'Choose all if the receiver has lost what it accepted. These deliveries have new ids.',
  periodHint: 'A time (2026-05-01T08:30Z) or a duration before now (1d, 2h).',
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

export function SendEvents({ query }: Pick<PageProps, 'query'>) {
  const [destination, setDestination] = useState(query['destination'] ?? '');
  const [from, setFrom] = useState(query['since'] ?? '1d');
  const [until, setUntil] = useState(query['until'] ?? '');
  const [event, setEvent] = useState(query['event'] ?? '');
  const [userId, setUserId] = useState(query['user'] ?? '');
  const [condition, setCondition] = useState('');
  const [mode, setMode] = useState<'missing' | 'all'>('missing');
  const [rate, setRate] = useState('50');
  const [asked, setAsked] = useState<Schema['ReplayInput']>();
  const parsed = conditionIn({ condition });
  const isReadable = parsed !== 'not-json';
  const order: Schema['ReplayInput'] = {
    kind: 'events',
    destination,
    from,
    mode,
    ...(until !== '' && { until }),
    ...(event !== '' && { events: [event] }),
    ...(userId !== '' && { userId }),
    ...(isReadable && parsed && { filter: { condition: parsed } }),
  };
  const isAsked = JSON.stringify(order) === JSON.stringify(asked);
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
          <TextField label="Destination" value={destination} onValue={setDestination} required />
          <TextField label="From" hint={words.periodHint} value={from} onValue={setFrom} required />
          <TextField label="Until" hint="Empty: now." value={until} onValue={setUntil} />
          <TextField
            label="Event"
            hint="Empty: all. * stands for any text."
            value={event}
            onValue={setEvent}
          />
          <TextField label="User" hint="Empty: all." value={userId} onValue={setUserId} />
          <TextField
            label="Condition"
            hint={words.conditionHint}
            value={condition}
            onValue={setCondition}
            lines={3}
            problem={isReadable ? undefined : 'Enter a JSON object.'}
          />
          <ChoiceField
            label="Send"
            hint={words.modeHint}
            value={mode}
            onValue={setMode}
            choices={Object.entries(words.modes)}
          />
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
                disabled={destination === '' || !isReadable}
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
