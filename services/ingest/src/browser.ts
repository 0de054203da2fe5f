/** What the browser SDK asks for beside its calls: its settings when it loads, and to be rid of its metrics. */
import type { IncomingMessage } from 'node:http';
import { jsonAnswer, success } from './answer.ts';
import { batchLimit } from './body.ts';
import { forgetBody } from './intake.ts';
import { metricsOperation, settingsOperation } from './openapi.ts';
import type { Route } from './route.ts';
import type { SourceFinder } from './write-key.ts';

export interface BrowserDependencies {
  readonly sources: SourceFinder;
  /** Where browsers reach this server; else what the request says is used. */
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
        // Not for shared caches: the host that the browser named is part of it.
        return jsonAnswer(200, JSON.stringify(settings), ['cache-control', 'private, max-age=300']);
      },
    },
    {
      name: 'metrics',
      method: 'POST',
      paths: ['/v1/m'],
      operation: metricsOperation,
      async handle(request) {
        await forgetBody(request, batchLimit);
        return success;
      },
    },
  ];
}

/** Where the browser SDK is to send its calls, as its settings name it. */
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
