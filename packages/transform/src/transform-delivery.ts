/** Makes the body of a delivery with the transform of its destination. */
import {
  headerNameProblem,
  headersOfTailrace,
  headerValueProblem,
  type Destination,
  type Transform,
} from '@tailrace/config';
import type { Delivery } from '@tailrace/records';
import { encodeBody } from '@tailrace/routing';
import { failureText, transformLimits, type TransformResult } from './run.ts';
import type { Transforms } from './transforms.ts';

/** A destination with a transform. */
export type Transforming = Destination & { readonly transform: Transform };

export function hasTransform(destination: Destination): destination is Transforming {
  return destination.transform !== undefined;
}

/**
 * Undefined where the transform filters the event. Where it fails, the delivery says why and has the body that it was given: it becomes a
 * dead letter, whose body can be made when the transform was corrected. A `delete` passes every transform, as it passes every filter.
 *
 * @param delivery with the body that the transform gets, as JSON
 */
export async function transformDelivery(
  transforms: Pick<Transforms, 'run'>,
  delivery: Delivery,
  destination: Transforming,
): Promise<Delivery | undefined> {
  const { id: owner, transform } = destination;
  const event = delivery.body.toString();
  const run = { owner, source: delivery.sourceId, code: transform.code, event };
  const result = checkedResult(await transforms.run(run), destination);
  switch (result.outcome) {
    case 'filtered':
      return delivery.type === 'delete' ? withBody(delivery, event, destination) : undefined;
    case 'failed':
      return withFailure(delivery, destination, failureText(result.error));
    case 'body': {
      const { body, headers: requestHeaders, url: onlyUrl } = result;
      return {
        ...withBody(delivery, body, destination),
        transformVersion: transform.version ?? 1,
        requestHeaders,
        onlyUrl,
      };
    }
  }
}

/** The delivery of which the transform has not made the body. */
export function withFailure(delivery: Delivery, { transform }: Transforming, why: string): Delivery {
  return { ...delivery, transformFailure: `Transform of version ${transform.version ?? 1}: ${why}` };
}

/** The delivery with a body from this JSON, as the content type of its destination says. */
export function withBody(delivery: Delivery, json: string, { settings }: Destination): Delivery {
  const contentType = settings.contentType === 'form' ? 'form' : undefined;
  return { ...delivery, contentType, transformFailure: undefined, body: encodeBody(json, settings) };
}

/** A result with a header that it may not set, or with a URL that the destination does not have, is a failure. */
export function checkedResult(
  result: TransformResult,
  { settings }: Pick<Destination, 'settings'>,
): TransformResult {
  const problem = result.outcome === 'body' ? problemOf(result, settings) : undefined;
  if (problem === undefined) return result;
  const { cpuMs, logs } = result;
  return { outcome: 'failed', error: { message: problem }, cpuMs, logs };
}

function problemOf(
  { headers = {}, url }: Extract<TransformResult, { outcome: 'body' }>,
  settings: Destination['settings'],
): string | undefined {
  const urls = settings.webhooks.length;
  if (url !== undefined && url >= urls) return `url is ${url}, and the destination has ${urls}, from 0.`;
  const entries = Object.entries(headers);
  if (entries.length > transformLimits.headers) {
    return `headers has ${entries.length} entries; ${transformLimits.headers} are allowed.`;
  }
  const own = headersOfTailrace(settings);
  const names = new Set<string>();
  for (const [name, value] of entries) {
    const lowerCase = name.toLowerCase();
    const why =
      headerNameProblem(name) ??
      (own.has(lowerCase)
        ? 'is set by Tailrace, because a setting of the destination names it'
        : undefined) ??
      (names.has(lowerCase) ? 'is there twice' : undefined) ??
      headerValueProblem(value);
    if (why !== undefined) return `The header ${JSON.stringify(name.slice(0, 128))} ${why}.`;
    names.add(lowerCase);
  }
  return undefined;
}
