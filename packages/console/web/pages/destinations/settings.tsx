/** The settings of a destination, its secret, and its removal. */
import { DeleteCard } from '../../versions/delete-card.tsx';
import type { Loss, VersionProps } from '../../versions/change.ts';
import { SettingsForm } from '../../versions/settings-form.tsx';
import { draftOf, entryOf, type Destination } from './draft.ts';
import { DestinationFields } from './fields.tsx';
import { isolated } from '../../text/isolated.ts';
import { requests } from './requests.ts';
import { RotateSecret, RotateSigningKey } from './rotate-secret.tsx';

const words = {
  disconnectMessage:
    'Events that arrive while a source is disconnected are never delivered to this destination, even if you connect it again.',
  deleteMessage:
    'Later events are not delivered to it, and its pending deliveries become dead letters. Its settings and its secret are deleted.',
};

const form = { kind: 'destination', requests, draftOf, entryOf, lossOf, fields: DestinationFields } as const;

export function DestinationSettings({ version, onVersion }: VersionProps<Destination>) {
  return (
    <div class="stack">
      <SettingsForm of={form} version={version} onVersion={onVersion} />
      {version.data.settings.sharedSecret !== undefined && (
        <RotateSecret version={version} onVersion={onVersion} />
      )}
      {version.data.settings.ed25519 !== undefined && (
        <RotateSigningKey version={version} onVersion={onVersion} />
      )}
      <DeleteCard of={form} id={version.data.id} message={words.deleteMessage} />
    </div>
  );
}

function lossOf(before: Destination, after: Destination): Loss<Destination> | undefined {
  const lost = before.sources.filter((id) => !after.sources.includes(id)).map(isolated);
  const isSampled = after.sample && JSON.stringify(after.sample) !== JSON.stringify(before.sample);
  // Without a question: the field is about what is not delivered.
  if (lost.length === 0) return isSampled ? { fields: ['sample'] } : undefined;
  const title = `Disconnect ${lost.join(', ')}?`;
  const question = { title, message: words.disconnectMessage, action: 'Disconnect' };
  return { question, fields: ['sources', 'sample'] };
}
