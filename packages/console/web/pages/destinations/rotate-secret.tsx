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
  rotateKeyLead:
    'Creates a new key and publishes its public half. Requests are also signed with the previous key for a while, so that receivers can fetch the new one.',
  periods: { '0s': 'no time', '1h': '1 hour', '24h': '1 day', '7d': '7 days', '30d': '30 days' },
};

const byDefault = { keepPreviousFor: '24h', force: false };

/** Rotates the shared secret. The new one is shown once. */
export function RotateSecret({ version, onVersion }: VersionProps<Destination>) {
  const { id } = version.data;
  const [made, setMade] = useState<Schema['RotateSecretAnswer']>();
  const rotation = useForm(byDefault, async (body) =>
    setMade(await ask(api.POST('/v1/destinations/{id}/rotate-secret', { params: { path: { id } }, body }))),
  );
  const close = async (): Promise<void> => {
    setMade(undefined);
    onVersion(await requests.load(id));
  };
  const until = made?.previousSharedSecretUntil;
  return (
    <Card title="Rotate secret">
      <RotationForm of="secret" lead={words.rotateLead} {...rotation} />
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

/** Rotates the Ed25519 key. */
export function RotateSigningKey({ version, onVersion }: VersionProps<Destination>) {
  const { id } = version.data;
  const params = { path: { id } };
  const rotation = useForm(byDefault, async (body) => {
    await ask(api.POST('/v1/destinations/{id}/rotate-signing-key', { params, body }));
    onVersion(await requests.load(id));
  });
  return (
    <Card title="Rotate signing key">
      <RotationForm of="signing key" lead={words.rotateKeyLead} {...rotation} />
    </Card>
  );
}

interface RotationProps extends ReturnType<typeof useForm<typeof byDefault>> {
  readonly of: 'secret' | 'signing key';
  readonly lead: string;
}

function RotationForm({ of, lead, field, form }: RotationProps) {
  return (
    <Form {...form} action={`Rotate ${of}`}>
      <p class="quiet">{lead}</p>
      <ChoiceField
        label={`Keep the previous ${of} for`}
        {...field('keepPreviousFor')}
        choices={Object.entries(words.periods)}
      />
      <CheckField label="Rotate even if an earlier rotation is in progress" {...field('force')} />
    </Form>
  );
}
