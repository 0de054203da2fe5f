/** The settings of a source, its write keys, and its removal. */
import { api, ask } from '../../api/client.ts';
import { Button } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { DeleteCard } from '../../parts/delete-card.tsx';
import { CheckField, problemOf, TextField } from '../../parts/field.tsx';
import { numberOf } from '../../parts/form.ts';
import { ErrorNote } from '../../parts/notes.tsx';
import { text } from '../../text/index.ts';
import { useChange, useEditing, type VersionProps } from '../../versions/change.ts';
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

function Fields({ version, onVersion }: VersionProps<Source>) {
  const { draft, setDraft, base, restart } = useEditing(version, draftOf);
  const change = useChange(requests, base, (saved) => {
    restart(saved);
    onVersion(saved);
  });
  const { isBusy, error, divergence } = change;
  if (divergence) {
    return <ConflictCard title={text.versions.source} change={change} divergence={divergence} />;
  }
  return (
    <Card title={words.settings}>
      <form
        class="stack form"
        onSubmit={(event) => {
          event.preventDefault();
          void change.save(entryOf(draft, base.data));
        }}
      >
        <TextField
          label={words.name}
          hint={words.nameHint}
          value={draft.name}
          onValue={(name) => {
            setDraft({ ...draft, name });
          }}
          problem={problemOf(error, 'name')}
        />
        <TextField
          label={words.rateLimit}
          hint={words.rateLimitHint}
          value={draft.rateLimit}
          onValue={(rateLimit) => {
            setDraft({ ...draft, rateLimit });
          }}
          problem={problemOf(error, 'rateLimit')}
        />
        <TextField
          label={words.rateLimitBytes}
          hint={words.rateLimitBytesHint}
          value={draft.rateLimitBytes}
          onValue={(rateLimitBytes) => {
            setDraft({ ...draft, rateLimitBytes });
          }}
          problem={problemOf(error, 'rateLimitBytes')}
        />
        <CheckField
          label={words.addIp}
          hint={words.addIpHint}
          value={draft.addIp}
          onValue={(addIp) => {
            setDraft({ ...draft, addIp });
          }}
        />
        <CheckField
          label={words.isEnabled}
          hint={words.isEnabledHint}
          value={draft.enabled}
          onValue={(enabled) => {
            setDraft({ ...draft, enabled });
          }}
        />
        <ErrorNote error={error} />
        <div class="row">
          <Button type="submit" kind="main-action" isBusy={isBusy}>
            {text.common.save}
          </Button>
        </div>
      </form>
    </Card>
  );
}
