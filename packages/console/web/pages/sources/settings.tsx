/** The settings of a source, its write keys, and its removal. */
import { api, ask } from '../../api/client.ts';
import { Card } from '../../parts/card.tsx';
import { DeleteCard } from '../../parts/delete-card.tsx';
import { fieldsOf, Form } from '../../parts/entry-form.tsx';
import { CheckField, TextField } from '../../parts/field.tsx';
import { numberOf } from '../../parts/form.ts';
import { text } from '../../text/index.ts';
import { useEntryForm, type VersionProps } from '../../versions/change.ts';
import { ConflictCard } from '../../versions/conflict.tsx';
import { omit } from '../../versions/omit.ts';
import { requests, type Source } from './requests.ts';
import { WriteKeys } from './write-keys.tsx';

const words = text.sources;

export function SourceSettings({ version, onVersion }: VersionProps<Source>) {
  const { id } = version.data;
  const params = { path: { id } };
  return (
    <div class="stack">
      <Fields version={version} onVersion={onVersion} />
      <WriteKeys version={version} onVersion={onVersion} />
      <DeleteCard
        id={id}
        words={words}
        onDelete={() => ask(api.DELETE('/v1/sources/{id}', { params }))}
        list="sources"
      />
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

function Fields(props: VersionProps<Source>) {
  const { draft, setDraft, base, change } = useEntryForm(props, requests, draftOf);
  const { divergence } = change;
  if (divergence) {
    return <ConflictCard title={text.versions.source} change={change} divergence={divergence} />;
  }
  const field = fieldsOf(draft, setDraft, change.error);
  return (
    <Card title={words.settings}>
      <Form
        state={change}
        onSubmit={() => change.save(entryOf(draft, base.data))}
        action={text.common.save}
        kind="main-action"
      >
        <TextField label={words.name} hint={words.nameHint} {...field('name')} />
        <TextField label={words.rateLimit} hint={words.rateLimitHint} {...field('rateLimit')} />
        <TextField
          label={words.rateLimitBytes}
          hint={words.rateLimitBytesHint}
          {...field('rateLimitBytes')}
        />
        <CheckField label={words.addIp} hint={words.addIpHint} {...field('addIp')} />
        <CheckField label={words.isEnabled} hint={words.isEnabledHint} {...field('enabled')} />
      </Form>
    </Card>
  );
}
