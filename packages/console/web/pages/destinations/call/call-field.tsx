/** A field for a tracking call. It begins with an example of a type, or with a recent event. */
import { useRef, useState } from 'preact/hooks';
import { Button } from '../../../parts/button.tsx';
import { ChoiceField, TextField } from '../../../parts/field.tsx';
import { toast } from '../../../parts/notes.tsx';
import { parseObject } from '../filter/draft.ts';
import { callTypes, exampleOf, type CallType } from './call.ts';
import { RecentEvents } from './recent-events.tsx';

interface CallFieldProps {
  readonly label: string;
  readonly hint: string;
  /** JSON. */
  readonly value: string;
  readonly onValue: (value: string) => void;
  /** The rule of the API that it breaks. */
  readonly problem: string | undefined;
  /** Of which recent events are offered. */
  readonly sources: readonly string[];
}

export function CallField({ label, hint, value, onValue, problem, sources }: CallFieldProps) {
  const [isChoosing, setChoosing] = useState(false);
  /** As it was before it was edited. */
  const begun = useRef(value);
  const latest = useRef(onValue);
  latest.current = onValue;
  const parsed = parseObject(value);
  const type = callTypes.find((one) => parsed !== 'not-json' && parsed['type'] === one);
  const replace = (next: string): void => {
    if (value !== begun.current) {
      toast('Call replaced.', {
        undo: () => latest.current(value),
      });
    }
    begun.current = next;
    onValue(next);
  };
  return (
    <>
      <div class="filters">
        <ChoiceField<CallType | ''>
          label="Example"
          value={type ?? ''}
          choices={[
            ...(type === undefined ? [['', 'none'] as const] : []),
            ...callTypes.map((one) => [one, one] as const),
          ]}
          onValue={(chosen) => {
            if (chosen !== '') replace(exampleOf(chosen));
          }}
        />
        <div class="row">
          <Button onClick={() => setChoosing(true)}>Use a recent event</Button>
        </div>
      </div>
      <TextField
        label={label}
        hint={hint}
        value={value}
        onValue={onValue}
        lines={10}
        mono
        problem={
          parsed === 'not-json'
            ? 'Enter a JSON object, for example {"type": "track", "userId": "ada", "event": "Test"}.'
            : problem
        }
      />
      {isChoosing && (
        <RecentEvents
          sources={sources}
          onCall={(chosen) => {
            setChoosing(false);
            replace(chosen);
          }}
          onClose={() => setChoosing(false)}
        />
      )}
    </>
  );
}
