/** How a destination signs: the fields of `settings.signature`. */
import type { ApiError } from '../../api/client.ts';
import { fieldsOf, MoreFields } from '../../parts/entry-form.tsx';
import { CheckField, ChoiceField, problemOf, problemWithin, TextField } from '../../parts/field.tsx';
import type { SignatureDraft } from './draft.ts';

const algorithms = [
  ['hmac-sha1', 'HMAC-SHA1'],
  ['hmac-sha256', 'HMAC-SHA256'],
  ['hmac-sha512', 'HMAC-SHA512'],
] as const;
const encodings = [
  ['hex', 'Hexadecimal'],
  ['base64', 'Base64'],
] as const;

interface Props {
  readonly draft: SignatureDraft;
  readonly onDraft: (draft: SignatureDraft) => void;
  readonly error: ApiError | undefined;
}

export function SignatureFields({ draft, onDraft, error }: Props) {
  const field = fieldsOf(draft, onDraft);
  const { header, algorithm, encoding, prefix, timestamp } = draft;
  const isSet =
    header !== '' || algorithm !== 'hmac-sha1' || encoding !== 'hex' || prefix !== '' || timestamp;
  const problem = (name: keyof SignatureDraft) => problemOf(error, `settings.signature.${name}`);
  return (
    <MoreFields title="Signature" isSet={isSet} problem={problemWithin(error, 'settings.signature')}>
      <TextField
        label="Signature header"
        {...field('header')}
        placeholder="X-Signature"
        mono
        problem={problem('header')}
      />
      <ChoiceField label="Algorithm" {...field('algorithm')} choices={algorithms} />
      <ChoiceField label="Encoding" {...field('encoding')} choices={encodings} />
      <TextField
        label="Prefix"
        hint="Stands before the signature, for example sha256=."
        {...field('prefix')}
        placeholder={draft.timestamp ? 'v1=' : ''}
        mono
        problem={problem('prefix')}
      />
      <CheckField
        label="Sign the time of the request too"
        hint="Sends t=<seconds>,v1=<signature>, so that the receiver can refuse old requests."
        {...field('timestamp')}
      />
    </MoreFields>
  );
}
