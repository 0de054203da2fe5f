/** What was sent and answered in a failed request. */
import type { Schema } from '../api/client.ts';
import { Code, Json } from './code.tsx';
import { formatDuration } from './format.ts';

type Exchange = Schema['Exchange'];

const words = {
  omitted: {
    rest: 'The rest of the response body was not kept.',
    binary: 'The response body is compressed or not text.',
    limit: 'The response was not kept: too many attempts failed in this minute.',
  },
  steps: { dnsMs: 'DNS', connectMs: 'connection', tlsMs: 'TLS', answerMs: 'response' },
};

export function Exchange({ of }: { readonly of: Exchange | undefined }) {
  if (!of) return null;
  const { requestHeaders, responseHeaders, responseBody, omitted } = of;
  return (
    <div class="stack tight">
      {responseBody !== undefined && <Json label="Response body">{responseBody}</Json>}
      {omitted !== undefined && <p class="quiet small">{words.omitted[omitted]}</p>}
      <ConnectionSteps of={of} />
      {(requestHeaders ?? responseHeaders) && (
        <details>
          <summary class="small">Headers</summary>
          <div class="columns">
            {requestHeaders && <Headers title="Request headers" of={requestHeaders} />}
            {responseHeaders && <Headers title="Response headers" of={responseHeaders} />}
          </div>
        </details>
      )}
    </div>
  );
}

function Headers({ title, of }: { readonly title: string; readonly of: Readonly<Record<string, string>> }) {
  return (
    <div class="stack tight">
      <span class="quiet small">{title}</span>
      <Code label={title}>{headerLines(of)}</Code>
    </div>
  );
}

/** The address that was dialled, and how long each step took. */
export function ConnectionSteps({
  of,
}: {
  readonly of: Pick<Exchange, 'address' | 'proxy' | keyof typeof words.steps>;
}) {
  const steps = Object.entries(words.steps).flatMap(([name, step]) => {
    const ms = of[name as keyof typeof words.steps];
    return ms === undefined ? [] : [`${step} ${formatDuration(ms)}`];
  });
  const proxy = of.proxy === undefined ? [] : [`proxy ${of.proxy}`];
  const parts = [...(of.address === undefined ? proxy : [of.address]), ...steps];
  return parts.length === 0 ? null : <p class="quiet small numeric">{parts.join(' · ')}</p>;
}

export function headerLines(headers: Readonly<Record<string, string>>): string {
  return Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n');
}
