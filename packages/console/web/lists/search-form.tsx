/** The search of a list. What is searched for is in the address: a choice is searched for when it is made, a text when the form is sent. */
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useState } from 'preact/hooks';
import { setQuery } from '../url/location.ts';
import { Button } from '../parts/button.tsx';
import { ChoiceField, TextField } from '../parts/field.tsx';

type Query = Readonly<Record<string, string>>;

interface SearchFormProps {
  readonly label: string;
  readonly query: Query;
  readonly choices: readonly {
    readonly name: string;
    readonly label: string;
    readonly values: readonly (readonly [value: string, label: string])[];
  }[];
  readonly fields: readonly { readonly name: string; readonly label: string; readonly hint?: string }[];
  /** Fields of the caller, with what to do before the search; `true` where this replaces it. */
  readonly children?: ComponentChildren;
  readonly onSubmit?: () => boolean;
  readonly onClear?: () => void;
}

const momentHint = '2h, 7d or 2026-05-01T08:30Z';
export const periodFields = [
  { name: 'since', label: 'Since', hint: momentHint },
  { name: 'until', label: 'Until', hint: momentHint },
];

export function SearchForm({ label, query, choices, fields, children, onSubmit, onClear }: SearchFormProps) {
  const [typed, setTyped] = useState<Query>(query);
  useLayoutEffect(() => {
    setTyped(query);
  }, [JSON.stringify(query)]);
  const names = [...choices, ...fields].map(({ name }) => name);
  return (
    <form
      class="filters"
      role="search"
      aria-label={label}
      onSubmit={(event) => {
        event.preventDefault();
        if (onSubmit?.()) return;
        setQuery(Object.fromEntries(fields.map(({ name }) => [name, typed[name]?.trim()])));
      }}
    >
      {choices.map(({ name, label, values }) => (
        <ChoiceField
          key={name}
          label={label}
          value={query[name] ?? ''}
          choices={values}
          onValue={(value) => {
            setQuery({ [name]: value });
          }}
        />
      ))}
      {fields.map(({ name, label, hint }) => (
        <TextField
          key={name}
          label={label}
          placeholder={hint}
          value={typed[name] ?? ''}
          onValue={(value) => {
            setTyped({ ...typed, [name]: value });
          }}
        />
      ))}
      {children}
      <div class="row">
        <Button type="submit" kind="main-action">
          Search
        </Button>
        <Button
          kind="plain"
          onClick={() => {
            setTyped({});
            onClear?.();
            setQuery(Object.fromEntries(names.map((name) => [name, undefined])));
          }}
        >
          Clear
        </Button>
      </div>
    </form>
  );
}
