/** Code that sends an event with each client library, ready to be copied. */

export interface Place {
  /** Of ingest, without a path: `https://events.example.com`. */
  readonly endpoint: string;
  readonly writeKey: string;
}

export interface Snippet {
  readonly name: string;
  readonly code: (place: Place) => string;
}

export const snippets: readonly Snippet[] = [
  {
    name: 'curl',
    code: ({ endpoint, writeKey }) =>
      `curl ${endpoint}/v1/track -u ${writeKey}: \\
  -H 'Content-Type: application/json' \\
  -d '{"userId":"ada","event":"Order Completed","properties":{"total":25.5}}'`,
  },
  {
    name: 'Node',
    code: ({ endpoint, writeKey }) =>
      `import { Analytics } from '@tailrace/analytics-node';

const analytics = new Analytics({ writeKey: '${writeKey}', endpoint: '${endpoint}' });

analytics.track({ userId: 'ada', event: 'Order Completed', properties: { total: 25.5 } });
await analytics.close();`,
  },
  {
    name: 'Go',
    code: ({ endpoint, writeKey }) =>
      `import analytics "github.com/tailrace/tailrace/packages/analytics-go/v2"

client := analytics.New("${writeKey}")
client.Endpoint = "${endpoint}"
defer client.Close()

err := client.Track(&analytics.Track{
	UserId:     "ada",
	Event:      "Order Completed",
	Properties: analytics.NewProperties().SetTotal(25.5),
})`,
  },
  {
    name: 'Browser',
    code: ({ endpoint, writeKey }) =>
      `import { AnalyticsBrowser } from '@segment/analytics-next';

const analytics = AnalyticsBrowser.load({ writeKey: '${writeKey}', cdnURL: '${endpoint}' });

analytics.track('Order Completed', { total: 25.5 });`,
  },
  {
    name: 'Python',
    code: ({ endpoint, writeKey }) =>
      `import segment.analytics as analytics  # pip install segment-analytics-python

analytics.write_key = '${writeKey}'
analytics.host = '${endpoint}'
analytics.track('ada', 'Order Completed', {'total': 25.5})
analytics.flush()`,
  },
];

/** Ingest on the host of the console, whose address is `page`. */
export function defaultEndpoint(page: URL, port: number): string {
  return `${page.protocol}//${page.hostname}:${port}`;
}

/** Signs that end no quotation and are no command, wherever a snippet has the address. */
const safe = /^https?:\/\/[A-Za-z0-9.:[\]-]+[A-Za-z0-9._~/-]*$/;

/** The address for a snippet; undefined where it is none. */
export function cleanEndpoint(typed: string): string | undefined {
  const address = typed.trim().replace(/\/+$/, '');
  return safe.test(address) && URL.canParse(address) ? address : undefined;
}

const quoted = String.raw`"(?:[^"\\]|\\.)*"`;
/** The beginning of a call as ingest stores it: the type, the id and the times. */
const stored = new RegExp(
  String.raw`^\{"type":"[a-z]+","messageId":${quoted}(?:,"(?:timestamp|receivedAt|originalTimestamp|sentAt)":${quoted})*,`,
);
const types = ['track', 'identify', 'page', 'screen', 'group', 'alias'];

/**
 * A command that sends a call again as a new event: an accepted one without its id, because it would be a repeat, and without its times.
 * Others may have chosen the content, so it is one word for the shell, of visible ASCII. Undefined for what is no call.
 */
export function curlOf({ endpoint, writeKey }: Place, content: string): string | undefined {
  let type: unknown;
  try {
    ({ type } = (JSON.parse(content) ?? {}) as { readonly type?: unknown });
  } catch {
    return undefined;
  }
  const path = types.find((known) => known === type);
  if (path === undefined) return undefined;
  const body = content
    .replace(stored, '{')
    .replace(/[\n\r\t]/g, ' ')
    .replace(/[^ -~]/g, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .replaceAll("'", String.raw`'\''`);
  return `curl ${endpoint}/v1/${path} -u ${writeKey}: \\
  -H 'Content-Type: application/json' \\
  -d '${body}'`;
}
