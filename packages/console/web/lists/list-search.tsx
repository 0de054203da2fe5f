/** The search of a list. Its text is in the address; it is searched for when typing pauses. */
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { setQuery } from '../url/location.ts';
import { TextField } from '../parts/field.tsx';

interface SearchProps {
  readonly label: string;
  readonly hint?: string;
  /** What is searched for now. */
  readonly value: string;
  readonly onSearch: (value: string) => void;
}

const pauseMs = 200;

export function SearchField({ label, hint, value, onSearch }: SearchProps) {
  const [typed, setTyped] = useState(value);
  const searched = useRef(value);
  useLayoutEffect(() => {
    // The address changed by itself, as by the button "back" of the browser.
    if (value !== searched.current) setTyped(value);
    searched.current = value;
  }, [value]);
  useEffect(() => {
    const wanted = typed.trim();
    if (wanted === searched.current) return undefined;
    const timer = setTimeout(() => {
      searched.current = wanted;
      onSearch(wanted);
    }, pauseMs);
    return () => clearTimeout(timer);
  }, [typed]);
  return <TextField label={label} hint={hint} value={typed} onValue={setTyped} />;
}

/** The search above a list whose address holds what is searched for, as `?search=`. */
export function ListSearch({
  label,
  query,
}: {
  readonly label: string;
  readonly query: { readonly search?: string };
}) {
  return (
    <div class="filters">
      <SearchField label={label} value={query.search ?? ''} onSearch={(search) => setQuery({ search })} />
    </div>
  );
}
