/** The filter of a destination, with a sample call to try it on before it is saved. */
import { useState } from 'preact/hooks';
import type { ApiError } from '../../../api/client.ts';
import { Button } from '../../../parts/button.tsx';
import { Card } from '../../../parts/card.tsx';
import { fieldsOf, Form } from '../../../parts/entry-form.tsx';
import { CheckField, TextField } from '../../../parts/field.tsx';
import { useEntryForm, type Loss, type VersionProps } from '../../../versions/change.ts';
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

const words = {
  filterLead:
    'Only events that match all rules are delivered. The others are never delivered, even if you change the rules later. Without rules, all events are delivered. Delete calls are always delivered.',
  patternsHint:
    'Names of track, page and screen calls, one per line. * matches any text. Calls without a name are not affected.',
  conditionHint:
    'JSON, for example {"field": "properties.total", "atLeast": 100}. Operators: equals, oneOf, contains, startsWith, exists, lessThan, atMost, greaterThan, atLeast; combine with all, any, not.',
  valueHint:
    'Numbers, true, false and null are read as such. Put text that looks like one in quotes: "100". For a list, enter one value per line. Values are never converted.',
};

const sample = {
  type: 'track',
  userId: 'ada',
  event: 'Order Completed',
  properties: { total: 25.5, currency: 'EUR' },
};

export function FilterPart(props: VersionProps<Destination>) {
  const form = useEntryForm(props, requests, ({ filter }) => filterDraftOf(filter), filtersMore);
  const { draft, setDraft, base, change } = form;
  const { data } = base;
  const [call, setCall] = useState(JSON.stringify(sample, undefined, 2));
  const filter = filterOf(draft);
  const isReadable = filter !== 'not-json';
  const { divergence } = change;
  if (divergence) {
    return <ConflictCard kind="destination" change={change} divergence={divergence} />;
  }
  return (
    <div class="columns filter">
      <Card title="Filter">
        <Form
          state={change}
          onSubmit={() => isReadable && change.save(withFilter(data, filter))}
          action="Save filter"
          kind="main-action"
          disabled={!isReadable}
          wide
          beside={
            data.filter && (
              <Button onClick={() => change.save(withFilter(data, undefined))}>Remove filter</Button>
            )
          }
        >
          <p class="quiet">{words.filterLead}</p>
          <FilterFields
            draft={draft}
            onDraft={setDraft}
            error={change.error}
            isReadable={isReadable}
            suggestions={pathsIn(parseObject(call))}
          />
        </Form>
      </Card>
      <TryFilter
        id={data.id}
        sources={data.sources}
        filter={isReadable ? filter : undefined}
        isReadable={isReadable}
        call={call}
        onCall={setCall}
      />
    </div>
  );
}

/** Without a question: the form is about what is not delivered. */
function filtersMore(_before: Destination, { filter }: Destination): Loss<Destination> | undefined {
  return filter && { fields: ['filter'] };
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
  const field = fieldsOf(draft, onDraft);
  const ruleOf = (part: string): string | undefined => {
    const found = error?.problems.find(({ field }) => field.startsWith(`filter.${part}`));
    return found && `${found.field} ${found.rule}`;
  };
  return (
    <>
      <fieldset class="field">
        <legend>Call types</legend>
        <p class="hint">If none is selected, all types are delivered.</p>
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
        label="Only these events"
        hint={words.patternsHint}
        {...field('include')}
        lines={2}
        problem={ruleOf('events.include')}
      />
      <TextField
        label="Exclude these events"
        hint={words.patternsHint}
        {...field('exclude')}
        lines={2}
        problem={ruleOf('events.exclude')}
      />
      {condition !== 'not-json' && (
        <div class="field">
          <span>Condition builder</span>
          <ConditionBuilder
            condition={condition}
            suggestions={suggestions}
            onCondition={(next) =>
              onDraft({ ...draft, condition: next ? JSON.stringify(next, undefined, 2) : '' })
            }
          />
          <p class="hint">{words.valueHint}</p>
        </div>
      )}
      <TextField
        label="Condition"
        hint={words.conditionHint}
        {...field('condition')}
        lines={6}
        problem={
          isReadable
            ? ruleOf('condition')
            : 'Enter a JSON object, for example {"field": "userId", "exists": true}.'
        }
      />
    </>
  );
}
