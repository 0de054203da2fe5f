/** The form of a notification. */
import { EntriesField, EntryField } from '../../lists/entry-choice.tsx';
import { fieldsOf } from '../../parts/entry-form.tsx';
import { CheckField, ChoiceField, problemOf, TextField } from '../../parts/field.tsx';
import type { FieldsProps } from '../../versions/settings-form.tsx';
import { events, type Channel, type Draft } from './draft.ts';

const words = {
  events: {
    'destination.failing': 'A destination fails for 10 minutes',
    'deliveries.dead': 'Deliveries become dead letters',
    'destination.disabled': 'A destination is disabled',
    'source.silent': 'A source receives no calls',
  },
  channels: {
    slack: 'Slack',
    pagerduty: 'PagerDuty',
    json: 'Webhook (JSON)',
    email: 'Email',
    destination: 'A destination of Tailrace',
  },
  urls: {
    slack: 'A Slack incoming webhook, or one of a chat that accepts the same format. It is stored encrypted.',
    pagerduty:
      'Leave empty for PagerDuty’s own. The EU region is https://events.eu.pagerduty.com/v2/enqueue.',
    json: 'Receives a POST with a JSON body. It is stored encrypted.',
  },
  silences: { '15m': '15 minutes', '1h': '1 hour', '6h': '6 hours', '24h': '1 day', '7d': '7 days' },
};

export function NotificationFields({ draft, onDraft, error, children }: FieldsProps<Draft>) {
  const field = fieldsOf(draft, onDraft, error);
  const within = (path: string, name: keyof Draft) => ({
    ...field(name),
    problem: problemOf(error, `${path}.${name}`),
  });
  const silences = Object.entries(words.silences);
  const known = silences.some(([value]) => value === draft.silentAfter);
  return (
    <>
      <TextField label="Name" hint="Display name. You can change it at any time." {...field('name')} />
      {children}
      <fieldset class="field">
        <legend>Notify when</legend>
        <div class="check-list">
          {events.map((event) => (
            <CheckField
              key={event}
              label={words.events[event]}
              value={draft.events.includes(event)}
              onValue={(isChosen) => {
                const chosen = events.filter((one) =>
                  one === event ? isChosen : draft.events.includes(one),
                );
                field('events').onValue(chosen);
              }}
            />
          ))}
        </div>
      </fieldset>
      {draft.events.includes('source.silent') && (
        <ChoiceField
          label="A source is silent after"
          {...field('silentAfter')}
          choices={known ? silences : [...silences, [draft.silentAfter, draft.silentAfter]]}
        />
      )}
      <ChoiceField<Channel> label="Send to" {...field('channel')} choices={Object.entries(words.channels)} />
      {draft.channel === 'destination' && (
        <EntryField
          path="/v1/destinations"
          label="Destination"
          hint="Its id. It receives a signed webhook immediately, outside its queue."
          {...field('destination')}
        />
      )}
      {(draft.channel === 'slack' || draft.channel === 'json' || draft.channel === 'pagerduty') && (
        <TextField
          label="URL"
          hint={words.urls[draft.channel]}
          {...within('webhook', 'url')}
          value={draft.url}
          onValue={field('url').onValue}
          mono
        />
      )}
      {draft.channel === 'pagerduty' && (
        <TextField
          label="Integration key"
          hint="Of an Events API v2 integration. It is stored encrypted."
          {...within('webhook', 'routingKey')}
          value={draft.routingKey}
          onValue={field('routingKey').onValue}
          type="password"
        />
      )}
      {draft.channel === 'email' && <EmailFields draft={draft} onDraft={onDraft} error={error} />}
      <EntriesField
        path="/v1/destinations"
        label="Only these destinations"
        hint="If none is selected, all are included."
        emptyHint="No destinations yet."
        {...field('destinations')}
      />
      <EntriesField
        path="/v1/sources"
        label="Only these sources"
        hint="If none is selected, all are included."
        emptyHint="No sources yet."
        {...field('sources')}
        withoutBuiltIn
      />
      <CheckField label="Enabled" hint="A disabled notification sends nothing." {...field('enabled')} />
    </>
  );
}

function EmailFields({ draft, onDraft, error }: FieldsProps<Draft>) {
  const field = fieldsOf(draft, onDraft);
  const text = (name: 'from' | 'server' | 'user' | 'password' | 'to') => ({
    value: draft[name],
    onValue: field(name).onValue,
    problem: problemOf(error, `email.${name}`) ?? problemOf(error, `email.${name}[0]`),
  });
  return (
    <>
      <TextField label="To" hint="One address in each line." {...text('to')} lines={3} />
      <TextField label="From" {...text('from')} />
      <TextField
        label="Mail server"
        hint="smtps://smtp.example.com for TLS, smtp://smtp.example.com for STARTTLS."
        {...text('server')}
        mono
      />
      <TextField label="User name" hint="Leave empty if the server needs none." {...text('user')} />
      <TextField label="Password" hint="It is stored encrypted." {...text('password')} type="password" />
    </>
  );
}
