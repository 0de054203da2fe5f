/** Adds the routes of an area to the API. Each is an operation of the OpenAPI document. */
import type { ErrorCode } from '@tailrace/errors';
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteHandlerMethod } from 'fastify';
import Type, { type Static, type TSchema } from 'typebox';

export type Api = FastifyInstance;

/** A route: its schemas as fastify names them, what describes it in the document, and its handler. */
interface Operation<Path extends string, Query, Body> {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  /** Of the parameters of the path. By default each is a text. */
  readonly params?: TSchema;
  readonly querystring?: Query;
  readonly headers?: TSchema;
  readonly body?: Body;
  readonly response: Readonly<Record<number, object>>;
  /** The error codes of this route, in addition to those of the area and of all routes. */
  readonly errors?: readonly ErrorCode[];
  readonly bodyLimit?: number;
  /** See `exactBody` of a request. */
  readonly exactNumbers?: boolean;
  readonly exposeHeadRoute?: boolean;
  readonly handler: (request: RequestOf<Path, Query, Body>, reply: FastifyReply) => unknown;
}

type RequestOf<Path extends string, Query, Body> = FastifyRequest<{
  Params: Readonly<Record<NamesIn<Path>, string>>;
  Querystring: ValueOf<Query>;
  Body: ValueOf<Body>;
}>;

type ValueOf<Schema> = Schema extends TSchema ? Static<Schema> : unknown;

type NamesIn<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | NamesIn<`/${Rest}`>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never;

/**
 * The functions that add the routes of an area.
 *
 * @param tag the section of the document
 * @param errorsOfArea the error codes of all of its routes, in addition to those of the whole API
 */
export function routesOf(app: FastifyInstance, tag: string, errorsOfArea: readonly ErrorCode[] = []) {
  const adds =
    (method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE') =>
    <Path extends string, Query = undefined, Body = undefined>(
      url: Path,
      operation: Operation<Path, Query, Body>,
    ): void => {
      const { errors = [], exactNumbers = false, bodyLimit, exposeHeadRoute, handler, ...schema } = operation;
      app.route({
        method,
        url,
        ...(bodyLimit !== undefined && { bodyLimit }),
        ...(exposeHeadRoute !== undefined && { exposeHeadRoute }),
        config: { errors: [...errorsOfArea, ...errors], exactNumbers },
        schema: { tags: [tag], ...paramsOf(url), ...schema },
        handler: handler as RouteHandlerMethod,
      });
    };
  return {
    get: adds('GET'),
    post: adds('POST'),
    put: adds('PUT'),
    patch: adds('PATCH'),
    delete: adds('DELETE'),
  };
}

function paramsOf(url: string): { readonly params?: TSchema } {
  const names = Array.from(url.matchAll(/:(\w+)/g), ([, name = '']) => name);
  if (names.length === 0) return {};
  return { params: Type.Object(Object.fromEntries(names.map((name) => [name, Type.String()]))) };
}
