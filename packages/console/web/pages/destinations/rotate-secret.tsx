import { useState } from 'preact/hooks';
import { api, ask, type Schema } from '../../api/client.ts';
import { Card } from '../../parts/card.tsx';
import { Form, useForm } from '../../parts/entry-form.tsx';
import { CheckField, TextField } from '../../parts/field.tsx';
import { Once } from '../../parts/once.tsx';
import { formatLocal } from '../../parts/format.ts';
import { text } from '../../text/index.ts';
import type { VersionProps } from '../../versions/change.ts';
import type { Destination } from './draft.ts';
import { requests } from './requests.ts';

const words = text.destinations;

/** Rotates the shared secret. The new one is shown once. */
export function RotateSecret({ version, onVersion }: VersionProps<Destination>) {
  const { id } = version.data;
  const [made, setMade] = useState<Schema['RotateSecretAnswer']>();
  const { field, form } = useForm({ keepPreviousFor: '24h', force: false }, async (body) => {
    setMade(await ask(api.POST('/v1/destinations/{id}/rotate-secret', { params: { path: { id } }, body })));
  });
  const close = async (): Promise<void> => {
    setMade(undefined);
    onVersion(await requests.load(id));
  };
  const until = made?.previousSharedSecretUntil;
  return (
    <Card title={words.rotate}>
      <Form {...form} action={words.rotate}>
        <p class="quiet">{words.rotateLead}</p>
        <TextField label={words.keepFor} hint={words.keepForHint} {...field('keepPreviousFor')} />
        <CheckField label={words.force} {...field('force')} />
      </Form>
      {made && (
        <Once
          title={words.newSecret}
          lead={[words.newSecretLead, until && words.newSecretUntil(formatLocal(new Date(until)))]
            .filter(Boolean)
            .join(' ')}
          secret={made.sharedSecret}
          onClose={() => void close()}
        />
      )}
    </Card>
  );
}
