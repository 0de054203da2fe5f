/** The sources that a form offers: the first ones, and a search for the others, because there may be thousands. */
import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';
import type { Schema } from '../../api/client.ts';
import { useGet, type Resource } from '../../api/resource.ts';
import { SearchField } from '../../lists/list-search.tsx';

const limit = 100;

interface SourceChoice extends Pick<Resource<unknown>, 'error' | 'reload'> {
  /** Undefined until the first answer. */
  readonly sources: readonly Schema['Source'][] | undefined;
  /** Empty where all sources are shown. */
  readonly search: ComponentChildren;
}

export function useSourceChoice(): SourceChoice {
  const [search, setSearch] = useState('');
  const query = { limit, ...(search !== '' && { search }) };
  const { data, error, reload } = useGet('/v1/sources', { query });
  // While another search loads, the sources before it stay.
  const last = useRef(data);
  last.current = data ?? last.current;
  const isCut = useRef(false);
  isCut.current ||= data?.next !== undefined;
  return {
    sources: last.current?.items,
    error,
    reload,
    search: isCut.current && (
      <SearchField
        label="Find a source"
        hint={`Showing up to ${limit}. Type part of an id or name to find others.`}
        value={search}
        onSearch={setSearch}
      />
    ),
  };
}
