/** The fields of a destination, for a new one and for its settings. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { ApiError } from '../../api/client.ts';
import { Button } from '../../parts/button.tsx';
import { fieldsOf } from '../../parts/entry-form.tsx';
import { randomHex } from '../../parts/form.ts';
import { CheckField, ChoiceField, problemOf, problemWithin, TextField } from '../../parts/field.tsx';
import { Once } from '../../parts/once.tsx';
import { EntriesField } from '../../lists/entry-choice.tsx';
import { secretMask } from '../../versions/requests.ts';
import { withUrl, type Draft, type UrlDraft } from './draft.ts';
import { AuthFields } from './auth-fields.tsx';
import { BodyFields, SampleFields } from './body-fields.tsx';
import { PaceFields } from './pace-fields.tsx';
import { SignatureFields } from './signature-fields.tsx';

const words = {
  headersHint:
    'One per line, for example "Authorization: Bearer abc". Stored values are shown as asterisks. Leave the asterisks to keep a value.',
  secretHint:
    'Signs each request (X-Signature), so that the receiver can verify it. Leave empty to send unsigned requests.',
  generateHint:
    'Creates the first secret. To replace it later, rotate it: the previous secret keeps signing for a while.',
  ed25519Hint:
    'The server makes the key. Receivers verify with the public key, at /.well-known/tailrace/jwks.json?destination=<id>.',
  orderings: { none: 'None (fastest)', user: 'By user (one event of a user at a time)' },
};

const methods = (['POST', 'PUT', 'PATCH'] as const).map((method) => [method, method] as const);
/** What the API stores at most. */
const maxUrls = 5;
const secretBytes = 32;

interface FieldsProps {
  readonly draft: Draft;
  readonly onDraft: (draft: Draft) => void;
  readonly error: ApiError | undefined;
}

/** @param props `children` stand below the name */
export function DestinationFields({
  draft,
  onDraft,
  error,
  children,
}: FieldsProps & { readonly children?: ComponentChildren }) {
  const field = fieldsOf(draft, onDraft, error);
  return (
    <>
      <TextField label="Name" hint="Display name. You can change it at any time." {...field('name')} />
      {children}
      <EntriesField
        path="/v1/sources"
        label="Sources"
        hint="Events from these sources are delivered to this destination."
        emptyHint="No sources yet. You can connect the destination later."
        {...field('sources')}
      />
      <UrlFields draft={draft} onDraft={onDraft} error={error} />
      <SecretField
        secret={draft.secret}
        onSecret={field('secret').onValue}
        problem={problemOf(error, 'settings.sharedSecret')}
      />
      <ChoiceField
        label="Content type"
        {...field('contentType')}
        choices={[
          ['json', 'JSON'],
          ['form', 'Form: the JSON in the field payload'],
        ]}
      />
      <AuthFields draft={draft.auth} onDraft={field('auth').onValue} error={error} />
      {draft.secret !== '' && (
        <SignatureFields draft={draft.signature} onDraft={field('signature').onValue} error={error} />
      )}
      <CheckField label="Also send Standard Webhooks headers" {...field('standardWebhooks')} />
      <CheckField
        label="Sign with an Ed25519 key (Standard Webhooks v1a)"
        hint={words.ed25519Hint}
        {...field('ed25519')}
      />
      <TextField
        label="Delivery id header"
        hint="For example webhook-id. Receivers recognize repeats by its value. Leave empty to send none."
        {...field('deliveryIdHeader')}
        mono
        problem={problemOf(error, 'settings.deliveryIdHeader')}
      />
      <CheckField label="Also send traceparent for OpenTelemetry tracing" {...field('traceparent')} />
      <CheckField
        label="Send without the egress proxy"
        hint="Has an effect only if the service sends through a proxy."
        {...field('isDirect')}
      />
      <ChoiceField label="Order" {...field('ordering')} choices={Object.entries(words.orderings)} />
      <TextField
        label="Max requests per second"
        hint="Deliveries above the limit wait. Leave empty for no limit."
        {...field('rateLimit')}
      />
      <SampleFields draft={draft.sample} onDraft={field('sample').onValue} error={error} />
      <BodyFields draft={draft.body} onDraft={field('body').onValue} error={error} />
      <PaceFields draft={draft.pace} onDraft={field('pace').onValue} error={error} />
    </>
  );
}

function UrlFields({ draft, onDraft, error }: FieldsProps) {
  const { urls } = draft;
  const change = (index: number, changes: Partial<UrlDraft>): void =>
    onDraft({ ...draft, urls: urls.map((one, at) => (at === index ? { ...one, ...changes } : one)) });
  return (
    <fieldset class="stack tight">
      <legend>URLs</legend>
      {urls.map(({ url, method, headers }, index) => {
        const path = `settings.webhooks[${index}]`;
        return (
          <div key={index} class="stack tight">
            <TextField
              label={`URL ${index + 1}`}
              hint="The http or https URL that receives the requests."
              value={url}
              mono
              placeholder="https://example.com/events"
              onValue={(typed) => change(index, { url: typed })}
              problem={problemOf(error, `${path}.url`)}
            />
            <ChoiceField
              label={`Method of URL ${index + 1}`}
              value={method}
              onValue={(chosen) => change(index, { method: chosen })}
              choices={methods}
            />
            <TextField
              label={`Headers of URL ${index + 1}`}
              hint={words.headersHint}
              value={headers}
              lines={2}
              onValue={(typed) => change(index, { headers: typed })}
              problem={problemWithin(error, `${path}.headers`)}
            />
            {urls.length > 1 && (
              <div class="row">
                <Button
                  small
                  onClick={() => onDraft({ ...draft, urls: urls.filter((_, at) => at !== index) })}
                >
                  {`Remove URL ${index + 1}`}
                </Button>
              </div>
            )}
          </div>
        );
      })}
      {urls.length < maxUrls && (
        <div class="row">
          <Button small onClick={() => onDraft(withUrl(draft))}>
            Add a URL
          </Button>
        </div>
      )}
    </fieldset>
  );
}

interface SecretProps {
  readonly secret: string;
  readonly onSecret: (secret: string) => void;
  readonly problem: string | undefined;
}

function SecretField({ secret, onSecret, problem }: SecretProps) {
  const [made, setMade] = useState<string>();
  if (secret === secretMask)
    return <p class="quiet">A secret is set. It cannot be shown. Rotate it to get a new one.</p>;
  return (
    <div class="stack tight">
      <TextField
        label="Shared secret"
        hint={words.secretHint}
        value={secret}
        onValue={onSecret}
        mono
        problem={problem}
      />
      <div class="row">
        <Button
          small
          onClick={() => {
            const random = randomHex(secretBytes);
            onSecret(random);
            setMade(random);
          }}
        >
          Generate
        </Button>
        <span class="quiet small">{words.generateHint}</span>
      </div>
      {made !== undefined && (
        <Once
          title="New secret"
          lead="Copy it to the receiver now. Once you save, it signs every request and cannot be shown again."
          secret={made}
          onClose={() => setMade(undefined)}
        />
      )}
    </div>
  );
}
