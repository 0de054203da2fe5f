/** The search of a list. What is searched for is in the address: what was typed when the form is sent, or with the next choice. */
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useState } from 'preact/hooks';
import { setQuery } from '../url/location.ts';
import { Button } from '../parts/button.tsx';
import { ChoiceField, TextField, TimeField } from '../parts/field.tsx';
import { isBetweenTimes, toField, toTime } from './period.ts';
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
  return (
    <div class="stack tight">
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
      <SavedViews />
    </div>
  );
}

const spans = {
  '': 'any time',
  '1h': 'last hour',
  '24h': 'last 24 hours',
  '7d': 'last 7 days',
  '30d': 'last 30 days',
};
/** Of the choice that shows the fields of two times, before they are sent. */
const chosen = 'between';

function isBetween(typed: Query): boolean {
  return isBetweenTimes(typed) || (chosen in typed && !typed['since']);
}

interface PeriodProps {
  readonly query: Query;
  readonly typed: Query;
  readonly onTyped: (typed: Query) => void;
  readonly onSpan: (since: string) => void;
}

/** A span before now from a menu, or two times. */
function PeriodFields({ query, typed, onTyped, onSpan }: PeriodProps) {
  const { since = '' } = query;
  const isShown = isBetween(typed);
  const isOther = !isBetweenTimes(query) && !Object.hasOwn(spans, since);
  return (
    <>
      <ChoiceField
        label="Period"
        value={isShown ? chosen : since}
        choices={[
          ...Object.entries(spans),
          ...(isOther ? [[since, `last ${since}`] as const] : []),
          [chosen, 'between two times'],
        ]}
        onValue={(value) => {
          const { [chosen]: _shown, since: _since, until: _until, ...others } = typed;
          onTyped(value === chosen ? { ...others, [chosen]: '' } : { ...others, since: value });
          if (value !== chosen) onSpan(value);
        }}
      />
      {isShown &&
        (['since', 'until'] as const).map((name) => (
          <TimeField
            key={name}
            label={name === 'since' ? 'Since' : 'Until'}
            value={toField(typed[name] ?? '')}
            onValue={(value) => onTyped({ ...typed, [name]: value })}
          />
        ))}
    </>
  );
}
