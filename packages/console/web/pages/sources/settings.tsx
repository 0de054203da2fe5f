/** The settings of a source, its write keys, and its removal. */
import { fieldsOf } from '../../parts/entry-form.tsx';
import { CheckField, TextField } from '../../parts/field.tsx';
import { numberOf } from '../../parts/form.ts';
import type { Loss, VersionProps } from '../../versions/change.ts';
import { omit } from '../../versions/omit.ts';
import { DeleteCard } from '../../versions/delete-card.tsx';
import { SettingsForm, type FieldsProps } from '../../versions/settings-form.tsx';
import { requests, type Source } from './requests.ts';
import { WriteKeys } from './write-keys.tsx';

const words = {
  deleteMessage:
    'Calls with its write keys are refused. Disconnect all destinations first: a connected source cannot be deleted.',
  disableMessage:
    'Calls that arrive while it is disabled are rejected. They are never delivered, even if you enable it again.',
  rateLimitHint:
    'Calls above the limit are refused with 429. Leave empty for the default: 2,000 while other sources also send.',
  addIpHint:
    'Adds the IP address of the sender to events without context.ip. Behind a proxy, ingest needs TAILRACE_TRUSTED_PROXIES.',
};

const form = { kind: 'source', requests, draftOf, entryOf, lossOf, fields: SourceFields } as const;

export function SourceSettings({ version, onVersion }: VersionProps<Source>) {
  return (
    <div class="stack">
      <SettingsForm of={form} version={version} onVersion={onVersion} />
      <WriteKeys version={version} onVersion={onVersion} />
      <DeleteCard of={form} id={version.data.id} message={words.deleteMessage} />
    </div>
  );
}

interface Draft {
  readonly name: string;
  readonly rateLimit: string;
  readonly rateLimitBytes: string;
  readonly addIp: boolean;
  readonly enabled: boolean;
}

function draftOf({ name = '', rateLimit, rateLimitBytes, addIp = false, enabled }: Source): Draft {
  const limits = { rateLimit: String(rateLimit ?? ''), rateLimitBytes: String(rateLimitBytes ?? '') };
  return { name, ...limits, addIp, enabled };
}

function entryOf({ name, addIp, enabled, ...draft }: Draft, before: Source): Source {
  const rateLimit = numberOf(draft.rateLimit);
  const rateLimitBytes = numberOf(draft.rateLimitBytes);
  return {
    ...omit(before, 'name', 'rateLimit', 'rateLimitBytes', 'addIp'),
    enabled,
    ...(name.trim() !== '' && { name: name.trim() }),
    ...(rateLimit !== null && { rateLimit }),
    ...(rateLimitBytes !== null && { rateLimitBytes }),
    ...((addIp || before.addIp !== undefined) && { addIp }),
  };
}

function lossOf(before: Source, after: Source): Loss<Source> | undefined {
  if (!before.enabled || after.enabled) return undefined;
  const title = `Disable ${before.id}?`;
  const question = { title, message: words.disableMessage, action: 'Disable' };
  return { question, fields: ['enabled'] };
}

function SourceFields({ draft, onDraft, error }: FieldsProps<Draft>) {
  const field = fieldsOf(draft, onDraft, error);
  return (
    <>
      <TextField label="Name" hint="Display name. You can change it at any time." {...field('name')} />
      <TextField label="Max calls per second" hint={words.rateLimitHint} {...field('rateLimit')} />
      <TextField
        label="Max bytes per second"
        hint="Calls above the limit are refused with 429. Leave empty for the default: 10 MB."
        {...field('rateLimitBytes')}
      />
      <CheckField label="Add IP addresses to events" hint={words.addIpHint} {...field('addIp')} />
      <CheckField
        label="Enabled"
        hint="Calls from a disabled source are rejected and never delivered."
        {...field('enabled')}
      />
    </>
  );
}
