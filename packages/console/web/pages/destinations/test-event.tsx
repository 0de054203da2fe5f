/** Sends a test event, which can be edited, and shows request and answer of each URL. */
import { useState } from 'preact/hooks';
import { api, ask, type Schema } from '../../api/client.ts';
import { Card } from '../../parts/card.tsx';
import { Code, Json } from '../../parts/code.tsx';
import { Form, useForm } from '../../parts/entry-form.tsx';
import { ChoiceField } from '../../parts/field.tsx';
import { ConnectionSteps, headerLines } from '../../parts/exchange.tsx';
import { formatDuration } from '../../parts/format.ts';
import { Badge, Reason } from '../../parts/status.tsx';
import { CallField } from './call/call-field.tsx';
import { exampleOf, withTypedCall } from './call/call.ts';
import type { Destination } from './draft.ts';
import { parseObject } from './filter/draft.ts';

export function TestEvent({ destination }: { readonly destination: Destination }) {
  const [results, setResults] = useState<readonly Schema['TestResult'][]>();
  const { id, settings, sources } = destination;
  const { draft, field, form } = useForm({ call: exampleOf('track'), webhook: '' }, async (draft) => {
    const call = parseObject(draft.call);
    if (call === 'not-json') return;
    const params = { path: { id } };
    const body = { ...(draft.webhook !== '' && { webhook: Number(draft.webhook) }), call };
    const bodySerializer = withTypedCall(draft.call);
    const answer = await ask(api.POST('/v1/destinations/{id}/test', { params, body, bodySerializer }));
    setResults(answer.items);
  });
  return (
    <div class="stack">
      <Card title="Send a test event">
        <Form {...form} action="Send" kind="main-action" disabled={parseObject(draft.call) === 'not-json'}>
          <p class="quiet">
            Sent immediately, even if the destination is disabled or paused, or if its filter excludes the
            event. Nothing is stored.
          </p>
          <CallField
            label="Call"
            hint="A tracking call in JSON. The receiver gets it as a webhook."
            {...field('call')}
            sources={sources}
          />
          {settings.webhooks.length > 1 && (
            <ChoiceField
              label="URL"
              {...field('webhook')}
              choices={[
                ['', 'all URLs'],
                ...settings.webhooks.map(({ url }, index) => [String(index), url] as const),
              ]}
            />
          )}
        </Form>
      </Card>
      <div class="stack" aria-live="polite">
        {results?.map((result, index) => (
          <Result key={index} {...result} />
        ))}
      </div>
    </div>
  );
}

function Result({ request, response }: Schema['TestResult']) {
  const isAccepted = response.reason === undefined;
  return (
    <Card
      title={<span class="breakable">{request.url}</span>}
      actions={
        <span class="row">
          <Badge tone={isAccepted ? 'good' : 'bad'}>{isAccepted ? 'accepted' : 'failed'}</Badge>
          <span class="numeric">{response.status ?? 'No response'}</span>
          <span class="numeric quiet">{formatDuration(response.latencyMs)}</span>
        </span>
      }
    >
      <div class="columns">
        <section class="stack tight">
          <h3>Request</h3>
          <Code label="Request">{headerLines(request.headers)}</Code>
          <Json label="Request">{request.body}</Json>
        </section>
        <section class="stack tight">
          <h3>Response</h3>
          {response.reason !== undefined && (
            <p>
              <Reason of={response.reason} /> <span class="quiet small breakable">{response.detail}</span>
            </p>
          )}
          <ConnectionSteps of={response} />
          {response.headers && <Code label="Response">{headerLines(response.headers)}</Code>}
          {response.body !== undefined && <Json label="Response">{response.body}</Json>}
        </section>
      </div>
    </Card>
  );
}
