/** How fast and how long a destination is sent to, beside its rate limit. */
import type { ApiError } from '../../api/client.ts';
import { fieldsOf, MoreFields } from '../../parts/entry-form.tsx';
import { problemWithin, TextField } from '../../parts/field.tsx';
import type { PaceDraft } from './draft.ts';

interface Props {
  readonly draft: PaceDraft;
  readonly onDraft: (draft: PaceDraft) => void;
  readonly error: ApiError | undefined;
}

const fields = [
  [
    'burst',
    'burst',
    'Burst',
    'Requests that may be sent at once after a pause, beyond the limit per second.',
  ],
  [
    'maxInFlight',
    'maxInFlight',
    'Max deliveries at the same time',
    'Leave empty for as many as the receiver keeps up with.',
  ],
  ['timeout', 'timeout', 'Timeout', 'From 100ms to 5s. Leave empty for five seconds.'],
  ['retryFor', 'retry.for', 'Retry for', 'From 0s (never) to 4h. Leave empty for four hours.'],
  [
    'retrySchedule',
    'retry.schedule',
    'Delays between attempts',
    'For example 10s, 1m, 20m. Leave empty for the usual ones.',
  ],
  ['retryOn', 'retry.on', 'Retry on', 'For example 5xx, 429, 409, or none. Leave empty for 5xx, 408, 429.'],
  [
    'disableAfter',
    'disableAfter',
    'Disable after',
    'From 1h to 30d, such as 3d, in which all attempts fail. Leave empty to keep it enabled.',
  ],
] as const;

export function PaceFields({ draft, onDraft, error }: Props) {
  const field = fieldsOf(draft, onDraft);
  return (
    <MoreFields
      title="Pace"
      isSet={Object.values(draft).some((text) => text !== '')}
      problem={fields.map(([, path]) => problemWithin(error, path)).find((found) => found)}
    >
      {fields.map(([name, path, label, hint]) => (
        <TextField
          key={name}
          label={label}
          hint={hint}
          {...field(name)}
          problem={problemWithin(error, path)}
        />
      ))}
    </MoreFields>
  );
}
