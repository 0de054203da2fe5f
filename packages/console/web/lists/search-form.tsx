/** The search of a list. What is searched for is in the address: what was typed when the form is sent, or with the next choice. */
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useState } from 'preact/hooks';
import { isWide } from '../shell/wide.ts';
import { setQuery } from '../url/location.ts';
import { Button } from '../parts/button.tsx';
import { ChoiceField, TextField } from '../parts/field.tsx';
import { toTime } from './period.ts';
import { chosen, isBetween, PeriodFields } from './period-fields.tsx';
import { SavedViews } from './saved-views.tsx';

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
  /** Whether it has a period, as `since` and `until`. */
  readonly hasPeriod?: boolean;
  /** Fields of the caller, with what to do before the search; `true` where this replaces it. */
  readonly children?: ComponentChildren;
  readonly onSubmit?: () => boolean;
  readonly onClear?: () => void;
}

export function SearchForm(props: SearchFormProps) {
  const { label, query, choices, fields, hasPeriod, children, onSubmit, onClear } = props;
  const [typed, setTyped] = useState<Query>(query);
  // The fields of two times stay open until they have some.
  useLayoutEffect(
    () => setTyped((before) => (chosen in before ? { ...query, [chosen]: '' } : query)),
    [JSON.stringify(query)],
  );
  const named = [...choices, ...fields].map(({ name }) => name);
  const names = hasPeriod ? [...named, 'since', 'until'] : named;
  const between = hasPeriod &&
    isBetween(typed) && {
      since: toTime(typed['since'] ?? ''),
      until: toTime(typed['until'] ?? ''),
    };
  const search = (choice: Query = {}): void => {
    const texts = Object.fromEntries(fields.map(({ name }) => [name, typed[name]?.trim()]));
    setQuery({ ...texts, ...between, ...choice });
  };
  const active = names.map((name) => query[name] ?? '').filter((text) => text !== '');
  return (
    <div class="stack tight">
      <details class="search-fold" open={isWide.value}>
        <summary>{['Search', ...active].join(' · ')}</summary>
        <form
          class="filters"
          role="search"
          aria-label={label}
          onSubmit={(event) => {
            event.preventDefault();
            if (!onSubmit?.()) search();
          }}
        >
          {choices.map(({ name, label, values }) => (
            <ChoiceField
              key={name}
              label={label}
              value={query[name] ?? ''}
              choices={values}
              onValue={(value) => search({ [name]: value })}
            />
          ))}
          {fields.map(({ name, label, hint }) => (
            <TextField
              key={name}
              label={label}
              placeholder={hint}
              value={typed[name] ?? ''}
              onValue={(value) => setTyped({ ...typed, [name]: value })}
            />
          ))}
          {hasPeriod && (
            <PeriodFields
              query={query}
              typed={typed}
              onTyped={setTyped}
              onSpan={(since) => search({ since, until: '' })}
            />
          )}
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
      </details>
      <SavedViews />
    </div>
  );
}
