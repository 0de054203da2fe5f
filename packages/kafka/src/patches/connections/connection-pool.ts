/** The library's class for the connections to one broker: the members that patches use. */
export interface ConnectionPool {
  readonly pool: { isConnected(): boolean }[];
  getConnection(index?: number): Promise<unknown>;
  getConnectionByRequest(request: MadeRequest): Promise<unknown>;
  send(request: MadeRequest): Promise<unknown>;
}

/** A request as the library makes it, before it is sent. */
export interface MadeRequest {
  readonly request: { readonly apiKey: number; readonly apiName?: string };
  /** The argument of the function that made it; see refused-permissions.ts. */
  madeFrom?: unknown;
}
