/** The settings of a destination, its secret, and its removal. */
import { api, ask } from '../../api/client.ts';
import { Button } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { DeleteCard } from '../../parts/delete-card.tsx';
import { ErrorNote } from '../../parts/notes.tsx';
import { text } from '../../text/index.ts';
import { useChange, useEditing, type VersionProps } from '../../versions/change.ts';
import { ConflictCard } from '../../versions/conflict.tsx';
import { draftOf, entryOf, type Destination } from './draft.ts';
import { DestinationFields } from './fields.tsx';
import { requests } from './requests.ts';
import { RotateSecret } from './rotate-secret.tsx';

const words = text.destinations;

export function DestinationSettings({ version, onVersion }: VersionProps<Destination>) {
  const { id } = version.data;
  const params = { path: { id } };
  return (
    <div class="stack">
      <Form version={version} onVersion={onVersion} />
      <RotateSecret version={version} onVersion={onVersion} />
      <DeleteCard
        id={id}
        words={words}
        onDelete={() => ask(api.DELETE('/v1/destinations/{id}', { params }))}
        list="destinations"
      />
    </div>
  );
}

function Form({ version, onVersion }: VersionProps<Destination>) {
  const { draft, setDraft, base, restart } = useEditing(version, draftOf);
  const change = useChange(requests, base, (saved) => {
    restart(saved);
    onVersion(saved);
  });
  const { divergence } = change;
  if (divergence) {
    return <ConflictCard title={text.versions.destination} change={change} divergence={divergence} />;
  }
  return (
    <Card title={words.tabs.settings}>
      <form
        class="stack form"
        onSubmit={(event) => {
          event.preventDefault();
          void change.save(entryOf(draft, base.data));
        }}
      >
        <DestinationFields draft={draft} onDraft={setDraft} error={change.error} />
        <ErrorNote error={change.error} />
        <div class="row">
          <Button type="submit" kind="main-action" isBusy={change.isBusy}>
            {text.common.save}
          </Button>
        </div>
      </form>
    </Card>
  );
}
