/** Runs the transform of the form, which need not be saved, on a call: the input beside the output. */
import { api, ask, type Schema } from '../../../api/client.ts';
import { Card } from '../../../parts/card.tsx';
import { Code, Json } from '../../../parts/code.tsx';
import { Form, useForm } from '../../../parts/entry-form.tsx';
import { headerLines } from '../../../parts/exchange.tsx';
import { formatDuration } from '../../../parts/format.ts';
import { Badge } from '../../../parts/status.tsx';
import { CallField } from '../call/call-field.tsx';
import { exampleOf, withTypedCall } from '../call/call.ts';
import type { Destination } from '../draft.ts';
import { parseObject } from '../filter/draft.ts';

type Result = Schema['TransformTestResult'];

interface TryProps {
  readonly destination: Destination;
  readonly code: string;
  readonly result: Result | undefined;
  readonly onResult: (result: Result | undefined) => void;
}

export function TryTransform({ destination, code, result, onResult }: TryProps) {
  const { id, sources, settings } = destination;
  const { draft, field, form } = useForm({ call: exampleOf('track') }, async (draft) => {
    onResult(undefined);
    const params = { path: { id } };
    const body = { code, call: {} };
    const bodySerializer = withTypedCall(draft.call);
    onResult(await ask(api.POST('/v1/destinations/{id}/transform/test', { params, body, bodySerializer })));
  });
  return (
    <Card title="Test transform">
      <div class="columns">
        <Form {...form} action="Test transform" disabled={parseObject(draft.call) === 'not-json'} wide>
          <CallField
            label="Input"
            hint="A tracking call in JSON. Nothing is sent."
            {...field('call')}
            sources={sources}
          />
        </Form>
        <section class="stack tight" aria-live="polite" aria-label="Output">
          <h3>Output</h3>
          {result ? (
            <Output result={result} urls={settings.webhooks.map(({ url }) => url)} />
          ) : (
            <p class="quiet">Test the transform to see what the receiver gets.</p>
          )}
        </section>
      </div>
    </Card>
  );
}

function Output({ result, urls }: { readonly result: Result; readonly urls: readonly string[] }) {
  const { input, body = '', headers, url, logs, cpuMs } = result;
  return (
    <>
      <p class="row">
        <Verdict result={result} />
        <span class="quiet numeric">{formatDuration(cpuMs)}</span>
      </p>
      {result.outcome === 'body' && <Json label="Output">{body}</Json>}
      {headers && <Part title="Headers">{headerLines(headers)}</Part>}
      {url !== undefined && <p>Only sent to {urls[url]}</p>}
      {logs.length > 0 && <Part title="Logs">{logs.join('\n')}</Part>}
      <details>
        <summary>What the function got</summary>
        <Json label="What the function got">{input}</Json>
      </details>
    </>
  );
}

function Part({ title, children }: { readonly title: string; readonly children: string }) {
  return (
    <>
      <h4>{title}</h4>
      <Code label={title}>{children}</Code>
    </>
  );
}

function Verdict({ result: { outcome, error } }: { readonly result: Result }) {
  switch (outcome) {
    case 'body':
      return <Badge tone="good">Returned a body</Badge>;
    case 'filtered':
      return <Badge tone="warning">Returned null: not delivered</Badge>;
    case 'failed':
      return (
        <>
          <Badge tone="bad">failed</Badge>
          <span class="breakable">
            {error?.line !== undefined && `Line ${error.line}: `}
            {error?.message}
          </span>
        </>
      );
  }
}
