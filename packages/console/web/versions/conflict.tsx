/** Two versions of an entry side by side; the reader chooses a value for each field that both changed. */
import { useState } from 'preact/hooks';
import { Button } from '../parts/button.tsx';
import { Card } from '../parts/card.tsx';
import { ErrorNote } from '../parts/notes.tsx';
import type { Change, Divergence } from './change.ts';
import { conflictsOf, type Choice, type Entry } from './merge.ts';

const words = {
  lead: 'Choose a value for each field that you both changed. All other changes are kept.',
};

interface ConflictProps<Data> {
  readonly kind: 'source' | 'destination' | 'notification';
  readonly change: Change<Data>;
  readonly divergence: Divergence<Data>;
}

export function ConflictCard<Data extends object>({ kind, change, divergence }: ConflictProps<Data>) {
  const { base, mine, theirs } = divergence;
  const conflicts = conflictsOf(base as Entry, mine as Entry, theirs.data as Entry);
  const [choices, setChoices] = useState<Readonly<Record<string, Choice>>>({});
  return (
    <div role="alert">
      <Card title={`Someone else changed this ${kind}`}>
        <div class="stack">
          <p>{conflicts.length === 0 ? 'The changes do not conflict. Save to keep both.' : words.lead}</p>
          {conflicts.map((conflict) => {
            const { field } = conflict;
            return (
              <fieldset key={field}>
                <legend>
                  Field <code>{field}</code>
                </legend>
                <div class="choose">
                  {(['mine', 'theirs'] as const).map((side) => (
                    <label key={side}>
                      <input
                        type="radio"
                        name={field}
                        checked={(choices[field] ?? 'mine') === side}
                        onChange={() => setChoices({ ...choices, [field]: side })}
                      />
                      <span>
                        <strong>{side === 'mine' ? 'Yours' : 'Theirs'}</strong>
                        <br />
                        <code>{shown(conflict[side])}</code>
                      </span>
                    </label>
                  ))}
                </div>
              </fieldset>
            );
          })}
          <ErrorNote error={change.error} />
          <div class="row">
            <Button kind="main-action" onClick={() => change.resolve(choices)}>
              {conflicts.length === 0 ? 'Save' : 'Save selected values'}
            </Button>
            <Button onClick={() => change.discard()}>Discard my changes</Button>
          </div>
        </div>
      </Card>
    </div>
  );
}

function shown(value: unknown): string {
  if (value === undefined) return 'not set';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
