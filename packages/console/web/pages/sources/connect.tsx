/** How an application is connected: a snippet with its write key, the destinations, and the events as they arrive. */
import { useState } from 'preact/hooks';
import type { Schema } from '../../api/client.ts';
import { isLimited, may, session } from '../../api/session.ts';
import { Button, Choices, LinkButton } from '../../parts/button.tsx';
import { Card, Empty } from '../../parts/card.tsx';
import { Code, CopyButton } from '../../parts/code.tsx';
import { ChoiceField, TextField } from '../../parts/field.tsx';
import { ErrorNote } from '../../parts/notes.tsx';
import { useList } from '../../lists/pager.tsx';
import { Status } from '../../parts/status.tsx';
import { text } from '../../text/index.ts';
import { hrefOf, setQuery } from '../../url/location.ts';
import { stateOf } from '../destinations/state.ts';
import { cleanEndpoint, defaultEndpoint, snippets } from './snippets.ts';
import { Tail } from './tail.tsx';

const words = text.sources;

interface ConnectProps {
  readonly source: Schema['Source'];
  readonly query: Readonly<Record<string, string>>;
}

export function Connect({ source, query }: ConnectProps) {
  return (
    <div class="stack">
      <Snippets source={source} query={query} />
      <Tail source={source.id} />
      <DestinationsOf id={source.id} />
    </div>
  );
}

function Snippets({ source, query }: ConnectProps) {
  const [writeKey, setWriteKey] = useState(source.writeKeys[0] ?? '');
  const chosen = snippets.find(({ name }) => name === query['sdk']) ?? snippets[0];
  const fallback = session.value?.ingestUrl ?? defaultEndpoint(new URL(document.baseURI));
  // Not in the address of the page: a link of somebody must not decide where events are sent.
  const [typed, setTyped] = useState(fallback);
  const endpoint = cleanEndpoint(typed);
  const code = chosen?.code({ endpoint: endpoint ?? fallback, writeKey }) ?? '';
  const isMasked = !may('write');
  return (
    <Card title={words.snippets} actions={<CopyButton of={code} />}>
      <div class="stack">
        <div class="columns">
          <TextField
            label={words.endpoint}
            hint={words.endpointHint}
            value={typed}
            mono
            onValue={setTyped}
            problem={endpoint === undefined ? words.endpointRule : undefined}
          />
          {source.writeKeys.length > 1 && !isMasked && (
            <ChoiceField
              label={words.writeKey}
              value={writeKey}
              onValue={setWriteKey}
              choices={source.writeKeys.map((key) => [key, key] as const)}
            />
          )}
        </div>
        <Choices
          label={words.snippets}
          choices={snippets.map(({ name }) => [name, name])}
          current={chosen?.name}
          onChoose={(sdk) => {
            setQuery({ sdk });
          }}
        />
        <Code label={words.snippets}>{code}</Code>
        {isMasked && <p class="quiet small">{words.maskedKey}</p>}
      </div>
    </Card>
  );
}

function DestinationsOf({ id }: { readonly id: string }) {
  const pages = useList('/v1/destinations', { query: { source: id } });
  const { items, isLoading, error } = pages;
  const create = may('write') && !isLimited.value && (
    <LinkButton small href={hrefOf(['destinations', '+new'], { source: id })}>
      {words.connect}
    </LinkButton>
  );
  return (
    <Card title={words.destinationsOf} actions={create}>
      <ErrorNote error={error} onRetry={pages.reload} />
      {items.length === 0 && !isLoading && !error && (
        <Empty title={words.noDestination} lead={words.noDestinationLead} />
      )}
      <ul class="stack tight">
        {items.map((destination) => (
          <li key={destination.id} class="row">
            <a href={hrefOf(['destinations', destination.id])}>{destination.name ?? destination.id}</a>
            <Status of={stateOf(destination)} />
          </li>
        ))}
      </ul>
      {pages.hasMore && (
        <div class="row more">
          <Button small onClick={pages.more}>
            {text.common.more}
          </Button>
        </div>
      )}
    </Card>
  );
}
