/** The settings of an entry as a form, or both versions where somebody else has changed it meanwhile. */
import type { ComponentChildren, VNode } from 'preact';
import type { ApiError } from '../api/client.ts';
import { Card } from '../parts/card.tsx';
import { Form } from '../parts/entry-form.tsx';
import { useEntryForm, type LossOf, type Requests, type VersionProps } from './change.ts';
import { ConflictCard } from './conflict.tsx';

/** What the fields of a form get. */
export interface FieldsProps<Draft> {
  readonly draft: Draft;
  readonly onDraft: (draft: Draft) => void;
  readonly error: ApiError | undefined;
  /** After the name. */
  readonly children?: ComponentChildren;
}

/** How entries of a kind are changed. */
export interface EntryForm<Data, Draft> {
  readonly kind: 'source' | 'destination' | 'notification';
  readonly requests: Requests<Data>;
  readonly draftOf: (data: Data) => Draft;
  readonly entryOf: (draft: Draft, before: Data) => Data;
  readonly lossOf?: LossOf<Data>;
  readonly fields: (props: FieldsProps<Draft>) => VNode;
}

export function SettingsForm<Data extends { readonly id: string }, Draft extends object>({
  of: { kind, requests, draftOf, entryOf, lossOf, fields: Fields },
  ...version
}: VersionProps<Data> & { readonly of: EntryForm<Data, Draft> }) {
  const { draft, setDraft, base, change } = useEntryForm(version, requests, draftOf, lossOf);
  const { divergence, error } = change;
  if (divergence) return <ConflictCard kind={kind} change={change} divergence={divergence} />;
  const save = () => change.save(entryOf(draft, base.data));
  return (
    <Card title="Settings">
      <Form state={change} onSubmit={save} action="Save" kind="main-action">
        <Fields draft={draft} onDraft={setDraft} error={error} />
      </Form>
    </Card>
  );
}
