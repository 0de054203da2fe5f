/** The search of deliveries. */
import { useState } from 'preact/hooks';
import { TextField } from '../../parts/field.tsx';
import { SearchForm } from '../../lists/search-form.tsx';
import { text } from '../../text/index.ts';
import { go } from '../../url/location.ts';

const types = ['track', 'identify', 'page', 'screen', 'group', 'alias', 'delete'] as const;
const statuses = ['waiting', 'retrying', 'delivered', 'dead', 'unknown'] as const;

export function wantedOf(query: Readonly<Record<string, string>>) {
  const { event, user, destination, source, since, until } = query;
  const status = statuses.find((one) => one === query['status']);
  const type = types.find((one) => one === query['type']);
  return {
    ...(event !== undefined && { event }),
    ...(user !== undefined && { userId: user }),
    ...(destination !== undefined && { destination }),
    ...(source !== undefined && { source }),
    ...(status !== undefined && { status }),
    ...(type !== undefined && { type }),
    ...(since !== undefined && { since }),
    ...(until !== undefined && { until }),
  };
}

export function Search({ query }: { readonly query: Readonly<Record<string, string>> }) {
  const [id, setId] = useState('');
  return (
    <SearchForm
      label="Search"
      query={query}
      choices={[
        {
          name: 'status',
          label: 'Status',
          values: [['', 'any'], ...statuses.map((one) => [one, text.status[one]] as const)],
        },
        { name: 'type', label: 'Type', values: [['', 'any'], ...types.map((one) => [one, one] as const)] },
      ]}
      fields={[
        { name: 'destination', label: 'Destination' },
        { name: 'event', label: 'Event' },
        { name: 'user', label: 'User' },
        { name: 'source', label: 'Source' },
      ]}
      hasPeriod
      onSubmit={() => {
        if (id.trim() !== '') go(['why', id.trim()]);
        return id.trim() !== '';
      }}
      onClear={() => setId('')}
    >
      <TextField label="Event id (messageId)" value={id} onValue={setId} mono />
    </SearchForm>
  );
}
