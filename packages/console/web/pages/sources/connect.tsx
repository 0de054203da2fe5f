/** How an application is connected: a snippet with its write key, the destinations, and the events as they arrive. */
import { useState } from 'preact/hooks';
import type { Schema } from '../../api/client.ts';
import { isLimited, may } from '../../api/session.ts';
import { Button, Choices, LinkButton } from '../../parts/button.tsx';
import { Card, Empty } from '../../parts/card.tsx';
import { Code, CopyButton } from '../../parts/code.tsx';
import { ChoiceField, TextField } from '../../parts/field.tsx';
import { ErrorNote } from '../../parts/notes.tsx';
import { useList } from '../../lists/pager.tsx';
import { Status } from '../../parts/status.tsx';
import { hrefOf, setQuery } from '../../url/location.ts';
import { HealthLine } from '../destinations/health.tsx';
import { stateOf } from '../destinations/state.ts';
import { Calls } from './calls.tsx';
import { knownEndpoint } from './endpoint.ts';
import { cleanEndpoint, snippets } from './snippets.ts';

interface ConnectProps {
  readonly source: Schema['Source'];
  readonly query: Readonly<Record<string, string>>;
}

export function Connect({ source, query }: ConnectProps) {
  return (
    <div class="stack">
      <Snippets source={source} query={query} />
      <Calls source={source} />
      <DestinationsOf id={source.id} />
    </div>
  );
}

function Snippets({ source, query }: ConnectProps) {
  const [writeKey, setWriteKey] = useState(source.writeKeys[0] ?? '');
  const chosen = snippets.find(({ name }) => name === query['sdk']) ?? snippets[0];
  const fallback = knownEndpoint();
  // Not in the address of the page: a link of somebody must not decide where events are sent.
  const [typed, setTyped] = useState(fallback);
  const endpoint = cleanEndpoint(typed);
  const code = chosen?.code({ endpoint: endpoint ?? fallback, writeKey }) ?? '';
  const isMasked = !may('write');
  return (
    <Card title="Send an event" actions={<CopyButton of={code} />}>
      <div class="stack">
        <div class="columns">
          <TextField
            label="Ingest address"
            hint="The address at which your application reaches the ingest service."
            value={typed}
            mono
            onValue={setTyped}
            problem={
              endpoint === undefined
                ? 'Enter an http or https URL, for example https://events.example.com.'
                : undefined
            }
          />
          {source.writeKeys.length > 1 && !isMasked && (
            <ChoiceField
              label="Write key"
              value={writeKey}
              onValue={setWriteKey}
              choices={source.writeKeys.map((key) => [key, key] as const)}
            />
          )}
        </div>
        <Choices
          label="Send an event"
          choices={snippets.map(({ name }) => [name, name])}
          current={chosen?.name}
          onChoose={(sdk) => setQuery({ sdk })}
        />
        <Code label="Send an event">{code}</Code>
        {isMasked && (
          <p class="quiet small">
            This token cannot view write keys. Replace the asterisks with your write key.
          </p>
        )}
      </div>
    </Card>
  );
}

function DestinationsOf({ id }: { readonly id: string }) {
  const pages = useList('/v1/destination-health', { query: { source: id } });
  const { items, isLoading, error } = pages;
  const create = may('write') && !isLimited.value && (
    <LinkButton small href={hrefOf(['destinations', '+new'], { source: id })}>
      Connect a destination
    </LinkButton>
  );
  return (
    <Card title="Connected destinations" actions={create}>
      <ErrorNote error={error} onRetry={pages.reload} />
      {items.length === 0 && !isLoading && !error && (
        <Empty
          title="No connected destinations"
          lead="Events from this source are stored but not delivered."
        />
      )}
      <ul class="stack tight">
        {items.map(({ destination, health }) => (
          <li key={destination.id} class="row">
            <a href={hrefOf(['destinations', destination.id])}>{destination.name ?? destination.id}</a>
            <Status of={stateOf(destination, health)} />
            <HealthLine of={health} />
          </li>
        ))}
      </ul>
      {pages.hasMore && (
        <div class="row more">
          <Button small onClick={pages.more}>
            Show more
          </Button>
        </div>
      )}
    </Card>
  );
}
