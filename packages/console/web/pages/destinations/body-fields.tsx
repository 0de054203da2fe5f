/** What a destination gets: a sample of the events, and the fields of their bodies. */
import type { ApiError } from '../../api/client.ts';
import { fieldsOf, MoreFields } from '../../parts/entry-form.tsx';
import { ChoiceField, problemWithin, TextField } from '../../parts/field.tsx';
import type { BodyDraft, SampleDraft } from './draft.ts';

interface Props<Draft> {
  readonly draft: Draft;
  readonly onDraft: (draft: Draft) => void;
  readonly error: ApiError | undefined;
}

export function SampleFields({ draft, onDraft, error }: Props<SampleDraft>) {
  const field = fieldsOf(draft, onDraft);
  return (
    <MoreFields title="Sample" isSet={draft.percent !== ''} problem={problemWithin(error, 'sample')}>
      <TextField
        label="Percent"
        hint="Deliver only this share. Leave empty to deliver all events."
        {...field('percent')}
        problem={problemWithin(error, 'sample')}
      />
      <ChoiceField
        label="Share of"
        {...field('by')}
        choices={[
          ['user', 'users: all events of a user, or none'],
          ['event', 'events'],
        ]}
      />
    </MoreFields>
  );
}

const lists = [
  [
    'include',
    'Only these fields',
    'One path per line, for example properties.total. * stands for any key of one level.',
  ],
  ['exclude', 'Exclude these fields', 'One path per line, for example context.ip.'],
  ['hash', 'Hash these fields', 'Replaces each value by its SHA-256.'],
  ['rename', 'Rename fields', 'One per line, for example "traits.email -> email_sha256".'],
] as const;

export function BodyFields({ draft, onDraft, error }: Props<BodyDraft>) {
  const field = fieldsOf(draft, onDraft);
  return (
    <MoreFields
      title="Body"
      isSet={Object.values(draft).some((text) => text)}
      problem={problemWithin(error, 'fields')}
    >
      {lists.map(([name, label, hint]) => (
        <TextField
          key={name}
          label={label}
          hint={hint}
          {...field(name)}
          lines={2}
          mono
          problem={problemWithin(error, `fields.${name}`)}
        />
      ))}
      {draft.hash.trim() !== '' && (
        <TextField
          label="Salt"
          hint="Hashed in front of each value. By default the id of the destination."
          value={draft.salt ?? ''}
          onValue={field('salt').onValue}
          problem={problemWithin(error, 'fields.salt')}
        />
      )}
    </MoreFields>
  );
}
