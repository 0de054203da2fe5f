/** Finds the route for a method and a URL. It tolerates additional slashes, as some SDKs send them. */
import type { IncomingMessage } from 'node:http';
import type { ErrorCode } from '@tailrace/errors';
import type { JsonObject } from '@tailrace/events';
import type { LabelsOf } from '@tailrace/metrics';
import type { Answer } from './answer.ts';
import type { MemoryShare } from '../memory/budget.ts';

/** An OpenAPI Operation Object, without the responses that every operation has. */
export interface Operation extends JsonObject {
  readonly operationId: string;
  readonly summary: string;
  /** Errors in addition to those of every route. */
  readonly errors: readonly ErrorCode[];
  readonly success: JsonObject;
}

/** The name of a route in metrics. */
type RouteName = LabelsOf<'tailrace_ingest_responses_total'>['route'];

export interface Route {
  /** All forms of a path share it. */
  readonly name: RouteName;
  readonly method: 'GET' | 'POST';
  /** All forms of the path. `{name}` matches any segment. The first form is the documented one. */
  readonly paths: readonly [string, ...string[]];
  readonly operation: Operation;
  readonly handle: (
    request: IncomingMessage,
    target: Target,
    memory: MemoryShare,
    /** Of the request: valid, or undefined. Events are stored with it. */
    traceparent: string | undefined,
  ) => Answer | Promise<Answer>;
}

interface Target {
  readonly query: URLSearchParams;
  /** The decoded segment for each `{name}` of the path. */
  readonly parameters: Readonly<Record<string, string>>;
}

interface Match {
  readonly route: Route;
  readonly target: Target;
}

export type Router = (method: string, url: string) => Match | undefined;

const nothing: Target = { query: new URLSearchParams(), parameters: {} };

/**
 * A slash at the end of a path, or a repeated one, is ignored: Go and Rust SDKs join host and path without
 * normalizing. A URL in absolute form (RFC 9112, section 3.2.2) matches by its path.
 */
export function createRouter(routes: readonly Route[]): Router {
  const exact = new Map<string, Match>();
  const patterns: { readonly route: Route; readonly pattern: RegExp }[] = [];
  for (const route of routes) {
    for (const path of route.paths) {
      if (path.includes('{')) patterns.push({ route, pattern: patternOf(route.method, path) });
      else exact.set(`${route.method} ${path}`, { route, target: nothing });
    }
  }

  return (method, url) => {
    const asIs = exact.get(`${method} ${url}`);
    if (asIs) return asIs;
    const [, rawPath = '', rawQuery = ''] = /^(?:https?:\/\/[^/?]*)?([^?]*)\??(.*)$/s.exec(url) ?? [];
    const path = rawPath.replace(/\/{2,}/g, '/').replace(/(?<=.)\/$/, '');
    const request = `${method} ${path}`;
    const query = new URLSearchParams(rawQuery);
    const found = exact.get(request);
    if (found) return { route: found.route, target: { query, parameters: {} } };
    for (const { route, pattern } of patterns) {
      const groups = pattern.exec(request)?.groups;
      const parameters = groups && decoded(groups);
      if (parameters) return { route, target: { query, parameters } };
    }
    return undefined;
  };
}

function patternOf(method: string, path: string): RegExp {
  return new RegExp(`^${method} ${path.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`);
}

/** Undefined where the encoding of a segment is invalid. */
function decoded(groups: Readonly<Record<string, string>>): Record<string, string> | undefined {
  try {
    return Object.fromEntries(
      Object.entries(groups).map(([name, value]) => [name, decodeURIComponent(value)]),
    );
  } catch {
    return undefined;
  }
}
