/** The settings of a destination, its secret, and its removal. */
import { api, ask } from '../../api/client.ts';
import { Card } from '../../parts/card.tsx';
import { DeleteCard } from '../../parts/delete-card.tsx';
import { Form } from '../../parts/entry-form.tsx';
import { useEntryForm, type VersionProps } from '../../versions/change.ts';
import { ConflictCard } from '../../versions/conflict.tsx';
import { draftOf, entryOf, type Destination } from './draft.ts';
import { DestinationFields } from './fields.tsx';
import { requests } from './requests.ts';
import { RotateSecret } from './rotate-secret.tsx';

export function DestinationSettings({ version, onVersion }: VersionProps<Destination>) {
  const { id } = version.data;
  const params = { path: { id } };
  return (
    <div class="stack">
      <Fields version={version} onVersion={onVersion} />
      <RotateSecret version={version} onVersion={onVersion} />
      <DeleteCard
        kind="destination"
        id={id}
        message="Its pending deliveries become dead letters."
        onDelete={() => ask(api.DELETE('/v1/destinations/{id}', { params }))}
      />
    </div>
  );
}

function Fields(props: VersionProps<Destination>) {
  const { draft, setDraft, base, change } = useEntryForm(props, requests, draftOf);
  const { divergence, error } = change;
  if (divergence) {
    return <ConflictCard kind="destination" change={change} divergence={divergence} />;
  }
  return (
    <Card title="Settings">
      <Form
        state={change}
        onSubmit={() => change.save(entryOf(draft, base.data))}
        action="Save"
        kind="main-action"
      >
        <DestinationFields draft={draft} onDraft={setDraft} error={error} />
      </Form>
    </Card>
  );
}
