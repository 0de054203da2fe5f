/** How requests of a destination are authorized: the fields of `settings.auth`. */
import type { ApiError } from '../../api/client.ts';
import { fieldsOf, MoreFields } from '../../parts/entry-form.tsx';
import { ChoiceField, problemOf, problemWithin, TextField } from '../../parts/field.tsx';
import type { AuthDraft } from './draft.ts';

const kinds = [
  ['none', 'none'],
  ['basic', 'Basic: user name and password'],
  ['bearer', 'Bearer: token'],
] as const;

interface Props {
  readonly draft: AuthDraft;
  readonly onDraft: (draft: AuthDraft) => void;
  readonly error: ApiError | undefined;
}

export function AuthFields({ draft, onDraft, error }: Props) {
  const field = fieldsOf(draft, onDraft);
  const textField = (name: 'username' | 'password' | 'token', label: string, isSecret = true) => (
    <TextField
      label={label}
      {...field(name)}
      type={isSecret ? 'password' : 'text'}
      hint={isSecret ? 'Encrypted, and never shown. Enter it again when you change a URL.' : undefined}
      problem={problemOf(error, `settings.auth.${name}`)}
    />
  );
  return (
    <MoreFields
      title="Authorization"
      isSet={draft.kind !== 'none'}
      problem={problemWithin(error, 'settings.auth')}
    >
      <ChoiceField
        label="Kind"
        {...field('kind')}
        choices={kinds}
        problem={problemOf(error, 'settings.auth')}
      />
      {draft.kind === 'basic' && (
        <>
          {textField('username', 'User name', false)}
          {textField('password', 'Password')}
        </>
      )}
      {draft.kind === 'bearer' && textField('token', 'Token')}
    </MoreFields>
  );
}
