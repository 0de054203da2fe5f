/** The filter of a destination, with a sample call to try it on before it is saved. */
import { useState } from 'preact/hooks';
import type { ApiError } from '../../../api/client.ts';
import { Button } from '../../../parts/button.tsx';
import { Card } from '../../../parts/card.tsx';
import { CheckField, TextField } from '../../../parts/field.tsx';
import { ErrorNote } from '../../../parts/notes.tsx';
import { text } from '../../../text/index.ts';
import { useChange, useEditing, type VersionProps } from '../../../versions/change.ts';
import { ConflictCard } from '../../../versions/conflict.tsx';
import { omit } from '../../../versions/omit.ts';
import type { Destination } from '../draft.ts';
import { requests } from '../requests.ts';
import { ConditionBuilder } from './builder.tsx';
import { pathsIn } from './condition.ts';
import {
  conditionIn,
  filterDraftOf,
  filterOf,
  filterTypes,
  parseObject,
  type Filter,
  type FilterDraft,
} from './draft.ts';
import { TryFilter } from './try.tsx';

const words = text.destinations;

const sample = {
  type: 'track',
  userId: 'ada',
  event: 'Order Completed',
  properties: { total: 25.5, currency: 'EUR' },
};

export function FilterPart({ version, onVersion }: VersionProps<Destination>) {
  const { draft, setDraft, base, restart } = useEditing(version, ({ filter }) => filterDraftOf(filter));
  const { data } = base;
  const [call, setCall] = useState(JSON.stringify(sample, undefined, 2));
  const change = useChange(requests, base, (saved) => {
    restart(saved);
    onVersion(saved);
  });
  const filter = filterOf(draft);
  const isReadable = filter !== 'not-json';
  const { divergence } = change;
  if (divergence) {
    return <ConflictCard title={text.versions.destination} change={change} divergence={divergence} />;
  }
  return (
    <div class="columns">
      <Card title={words.tabs.filter}>
        <form
          class="stack"
          onSubmit={(event) => {
            event.preventDefault();
            if (isReadable) void change.save(withFilter(data, filter));
          }}
        >
          <p class="quiet">{words.filterLead}</p>
          <FilterFields
            draft={draft}
            onDraft={setDraft}
            error={change.error}
            isReadable={isReadable}
            suggestions={pathsIn(parseObject(call))}
          />
          <ErrorNote error={change.error} />
          <div class="row">
            <Button type="submit" kind="main-action" isBusy={change.isBusy} disabled={!isReadable}>
              {words.saveFilter}
            </Button>
            {data.filter && (
              <Button onClick={() => change.save(withFilter(data, undefined))}>{words.removeFilter}</Button>
            )}
          </div>
        </form>
      </Card>
      <TryFilter
        id={data.id}
        filter={isReadable ? filter : undefined}
        isReadable={isReadable}
        call={call}
        onCall={setCall}
      />
    </div>
  );
}

function withFilter(destination: Destination, filter: Filter | undefined): Destination {
  return { ...omit(destination, 'filter'), ...(filter && { filter }) };
}

interface FieldsProps {
  readonly draft: FilterDraft;
  readonly onDraft: (draft: FilterDraft) => void;
  readonly error: ApiError | undefined;
  readonly isReadable: boolean;
  readonly suggestions: readonly string[];
}

function FilterFields({ draft, onDraft, error, isReadable, suggestions }: FieldsProps) {
  const condition = conditionIn(draft);
  const ruleOf = (part: string): string | undefined => {
    const found = error?.problems.find(({ field }) => field.startsWith(`filter.${part}`));
    return found && `${found.field} ${found.rule}`;
  };
  return (
    <>
      <fieldset class="field">
        <legend>{words.filterTypes}</legend>
        <p class="hint">{words.filterTypesHint}</p>
        <div class="check-list across">
          {filterTypes.map((type) => (
            <CheckField
              key={type}
              label={type}
              value={draft.types.includes(type)}
              onValue={(isChosen) => {
                const others = draft.types.filter((one) => one !== type);
                onDraft({ ...draft, types: isChosen ? [...others, type] : others });
              }}
            />
          ))}
        </div>
      </fieldset>
      <TextField
        label={words.include}
        hint={words.patternsHint}
        value={draft.include}
        lines={2}
        onValue={(include) => {
          onDraft({ ...draft, include });
        }}
        problem={ruleOf('events.include')}
      />
      <TextField
        label={words.exclude}
        hint={words.patternsHint}
        value={draft.exclude}
        lines={2}
        onValue={(exclude) => {
          onDraft({ ...draft, exclude });
        }}
        problem={ruleOf('events.exclude')}
      />
      {condition !== 'not-json' && (
        <div class="field">
          <span>{text.filter.builder}</span>
          <ConditionBuilder
            condition={condition}
            suggestions={suggestions}
            onCondition={(next) => {
              onDraft({ ...draft, condition: next ? JSON.stringify(next, undefined, 2) : '' });
            }}
          />
          <p class="hint">{text.filter.valueHint}</p>
        </div>
      )}
      <TextField
        label={words.condition}
        hint={words.conditionHint}
        value={draft.condition}
        lines={6}
        onValue={(condition) => {
          onDraft({ ...draft, condition });
        }}
        problem={isReadable ? ruleOf('condition') : words.notJson}
      />
    </>
  );
}
