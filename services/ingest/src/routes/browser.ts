/** Further requests of the browser SDK: its settings when it loads, and its metrics, which are discarded. */
import type { IncomingMessage } from 'node:http';
import { jsonAnswer, success } from '../http/answer.ts';
import { batchLimit } from '../http/decode-body.ts';
import { discardBody } from '../http/read-body.ts';
import { metricsOperation, settingsOperation } from '../http/openapi.ts';
import type { Route } from '../http/router.ts';
import type { SourceFinder } from '../calls/write-key.ts';

export interface BrowserDependencies {
  readonly sources: SourceFinder;
  /** The URL at which browsers reach ingest. Default: the host of the request. */
  readonly publicUrl: string | undefined;
}

export function browserRoutes({ sources, publicUrl }: BrowserDependencies): Route[] {
  return [
    {
      name: 'settings',
      method: 'GET',
      paths: ['/v1/projects/{writeKey}/settings'],
      operation: settingsOperation,
      async handle(request, { parameters: { writeKey = '' } }) {
        await sources.find([writeKey]);
        const address = addressOf(request, publicUrl);
        const settings = { integrations: { 'Segment.io': { apiKey: writeKey, ...address } } };
        // Not for shared caches, because the content depends on the Host header.
        return jsonAnswer(200, JSON.stringify(settings), ['cache-control', 'private, max-age=300']);
      },
    },
    {
      name: 'metrics',
      method: 'POST',
      paths: ['/v1/m'],
      operation: metricsOperation,
      async handle(request) {
        await discardBody(request, batchLimit);
        return success;
      },
    },
  ];
}

/** The address for the calls of the browser SDK, in the form of its settings. */
function addressOf(
  { headers }: IncomingMessage,
  publicUrl: string | undefined,
): { apiHost: string; protocol: string } {
  const forwarded = headers['x-forwarded-proto'];
  const protocol = typeof forwarded === 'string' && forwarded.startsWith('https') ? 'https' : 'http';
  const url = publicUrl ?? `${protocol}://${headers.host ?? 'localhost'}`;
  return {
    apiHost: `${url.replace(/^https?:\/\//, '').replace(/\/+$/, '')}/v1`,
    protocol: url.split(':', 1)[0] ?? '',
  };
}
