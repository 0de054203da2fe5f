/** How requests of a destination are authorized: the fields of `settings.auth`, or of `settings.oauth2`. */
import type { ApiError } from '../../api/client.ts';
import { fieldsOf, MoreFields } from '../../parts/entry-form.tsx';
import { ChoiceField, problemOf, problemWithin, TextField } from '../../parts/field.tsx';
import type { AuthDraft } from './draft.ts';

const kinds = [
  ['none', 'none'],
  ['basic', 'Basic: user name and password'],
  ['bearer', 'Bearer: token'],
  ['oauth2', 'OAuth 2: client credentials'],
] as const;

const authMethods = [
  ['client_secret_basic', 'HTTP Basic'],
  ['client_secret_post', 'In the body'],
] as const;

const secretHint = 'Encrypted, and never shown. Enter it again when you change a URL.';

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
      hint={isSecret ? secretHint : undefined}
      problem={problemOf(error, `settings.auth.${name}`)}
    />
  );
  return (
    <MoreFields
      title="Authorization"
      isSet={draft.kind !== 'none'}
      problem={problemWithin(error, 'settings.auth') ?? problemWithin(error, 'settings.oauth2')}
    >
      <ChoiceField
        label="Kind"
        {...field('kind')}
        choices={kinds}
        problem={problemOf(error, 'settings.auth') ?? problemOf(error, 'settings.oauth2')}
      />
      {draft.kind === 'basic' && (
        <>
          {textField('username', 'User name', false)}
          {textField('password', 'Password')}
        </>
      )}
      {draft.kind === 'bearer' && textField('token', 'Token')}
      {draft.kind === 'oauth2' && (
        <OAuth2Fields draft={draft.oauth2} onDraft={field('oauth2').onValue} error={error} />
      )}
    </MoreFields>
  );
}

interface OAuth2Props extends Pick<Props, 'error'> {
  readonly draft: AuthDraft['oauth2'];
  readonly onDraft: (draft: AuthDraft['oauth2']) => void;
}

function OAuth2Fields({ draft, onDraft, error }: OAuth2Props) {
  const field = fieldsOf(draft, onDraft);
  const textField = (
    name: Exclude<keyof AuthDraft['oauth2'], 'authMethod'>,
    label: string,
    hint?: string,
  ) => (
    <TextField
      label={label}
      {...field(name)}
      type={name === 'clientSecret' ? 'password' : 'text'}
      hint={hint}
      problem={problemOf(error, `settings.oauth2.${name}`)}
    />
  );
  return (
    <>
      {textField(
        'tokenUrl',
        'Token URL',
        'Where Tailrace gets a token for all requests, before the last one ends.',
      )}
      {textField('clientId', 'Client id')}
      {textField('clientSecret', 'Client secret', secretHint)}
      {textField('scope', 'Scope', 'Separated by spaces. Leave empty for the default of the token server.')}
      {textField('audience', 'Audience', 'Only for token servers that require it.')}
      <ChoiceField label="Client authentication" {...field('authMethod')} choices={authMethods} />
    </>
  );
}
