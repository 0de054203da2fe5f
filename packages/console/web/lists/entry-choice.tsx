/** The sources or destinations that a form offers: the first ones, and a search for the others, because there may be thousands. */
import type { ComponentChildren, ComponentProps } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { get, type Schema } from '../api/client.ts';
import { useResource, type Resource } from '../api/resource.ts';
import { CheckField, TextField } from '../parts/field.tsx';
import { ErrorNote } from '../parts/notes.tsx';
import { SearchField } from './list-search.tsx';

const limit = 100;
const words = { '/v1/sources': 'Find a source', '/v1/destinations': 'Find a destination' };

interface Entries {
  readonly '/v1/sources': Schema['Source'];
  readonly '/v1/destinations': Schema['Destination'];
}

interface Page<Entry> {
  readonly items: readonly Entry[];
  readonly next?: string;
}

interface EntryChoice<Entry> extends Pick<Resource<unknown>, 'error' | 'reload'> {
  /** Undefined until the first answer. */
  readonly entries: readonly Entry[] | undefined;
  /** Empty where all entries are shown. */
  readonly search: ComponentChildren;
}

export function useEntryChoice<Path extends keyof Entries>(path: Path): EntryChoice<Entries[Path]> {
  const [search, setSearch] = useState('');
  const query = { limit, ...(search !== '' && { search }) };
  const { data, error, reload } = useResource(JSON.stringify([path, query]), async (signal) => {
    const page: unknown = await get(path, { query }, signal);
    return page as Page<Entries[Path]>;
  });
  // While another search loads, the entries before it stay.
  const last = useRef(data);
  last.current = data ?? last.current;
  const isCut = useRef(false);
  isCut.current ||= data?.next !== undefined;
  return {
    entries: last.current?.items,
    error,
    reload,
    search: isCut.current && (
      <SearchField
        label={words[path]}
        hint={`Showing up to ${limit}. Type part of an id or name to find others.`}
        value={search}
        onSearch={setSearch}
      />
    ),
  };
}

/** A field for the id of one entry, which suggests the first ones. */
export function EntryField({
  path,
  ...field
}: ComponentProps<typeof TextField> & { readonly path: keyof Entries }) {
  const { entries = [] } = useEntryChoice(path);
  return <TextField {...field} suggestions={entries.map(({ id }) => id)} mono />;
}

interface EntriesFieldProps {
  readonly path: keyof Entries;
  readonly label: string;
  readonly hint: string;
  /** The hint where there are none. */
  readonly emptyHint: string;
  readonly value: readonly string[];
  readonly onValue: (ids: readonly string[]) => void;
  /** Leaves out the source of operational events. */
  readonly withoutBuiltIn?: boolean;
}

/** Boxes to choose entries with. */
export function EntriesField(props: EntriesFieldProps) {
  const { path, label, hint, emptyHint, value, onValue, withoutBuiltIn = false } = props;
  const { entries: all, search, error, reload } = useEntryChoice(path);
  const entries = withoutBuiltIn ? all?.filter((entry) => !('builtIn' in entry)) : all;
  const [first] = useState(value);
  // Chosen entries that the search does not find, or that the token does not reach, stay chosen.
  const ids = [...new Set([...first, ...value, ...(entries ?? []).map(({ id }) => id)])];
  return (
    <fieldset class="field">
      <legend>{label}</legend>
      <p class="hint">{ids.length === 0 && entries && !search ? emptyHint : hint}</p>
      <ErrorNote error={error} onRetry={reload} />
      {search}
      <div class="check-list across">
        {ids.map((id) => (
          <CheckField
            key={id}
            label={id}
            value={value.includes(id)}
            onValue={(isChosen) => onValue(isChosen ? [...value, id] : value.filter((one) => one !== id))}
          />
        ))}
      </div>
    </fieldset>
  );
}
