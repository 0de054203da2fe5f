import { useState } from 'preact/hooks';
import { api, ask, type Schema } from '../../api/client.ts';
import { Card } from '../../parts/card.tsx';
import { Form, useForm } from '../../parts/entry-form.tsx';
import { CheckField, ChoiceField } from '../../parts/field.tsx';
import { Once } from '../../parts/once.tsx';
import { formatLocal } from '../../parts/format.ts';
import type { VersionProps } from '../../versions/change.ts';
import type { Destination } from './draft.ts';
import { requests } from './requests.ts';

const words = {
  rotateLead:
    'Replaces the secret with a new one. Unlike a generated first secret, it does not take over at once: requests are also signed with the previous one for a while, so that you can update the receiver.',
  periods: { '0s': 'no time', '1h': '1 hour', '24h': '1 day', '7d': '7 days', '30d': '30 days' },
};

/** Rotates the shared secret. The new one is shown once. */
export function RotateSecret({ version, onVersion }: VersionProps<Destination>) {
  const { id } = version.data;
  const [made, setMade] = useState<Schema['RotateSecretAnswer']>();
  const { field, form } = useForm({ keepPreviousFor: '24h', force: false }, async (body) =>
    setMade(await ask(api.POST('/v1/destinations/{id}/rotate-secret', { params: { path: { id } }, body }))),
  );
  const close = async (): Promise<void> => {
    setMade(undefined);
    onVersion(await requests.load(id));
  };
  const until = made?.previousSharedSecretUntil;
  return (
    <Card title="Rotate secret">
      <Form {...form} action="Rotate secret">
        <p class="quiet">{words.rotateLead}</p>
        <ChoiceField
          label="Keep the previous secret for"
          {...field('keepPreviousFor')}
          choices={Object.entries(words.periods)}
        />
        <CheckField label="Rotate even if an earlier rotation is in progress" {...field('force')} />
      </Form>
      {made && (
        <Once
          title="New secret"
          lead={[
            'Copy it to the receiver now. You will not be able to see it again.',
            until && `X-Signature is made with the previous secret until ${formatLocal(new Date(until))}.`,
          ]
            .filter(Boolean)
            .join(' ')}
          secret={made.sharedSecret}
          onClose={() => void close()}
        />
      )}
    </Card>
  );
}
