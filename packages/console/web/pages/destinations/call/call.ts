/** The text of a tracking call: examples, and the request that sends it. */

export const callTypes = ['track', 'identify', 'page', 'screen', 'group', 'alias', 'delete'] as const;
export type CallType = (typeof callTypes)[number];

const traits = { email: 'test@example.com', plan: 'pro' };
const fields: Readonly<Record<CallType, object>> = {
  track: { event: 'Test Event', properties: { total: 25.5, currency: 'EUR' } },
  identify: { traits },
  page: { name: 'Home', properties: { path: '/', url: 'https://example.com/' } },
  screen: { name: 'Home', properties: {} },
  group: { groupId: 'test-group', traits: { name: 'Test Group' } },
  alias: { previousId: 'test-anonymous' },
  delete: {},
};

export function exampleOf(type: CallType): string {
  return JSON.stringify({ type, userId: 'test-user', ...fields[type] }, undefined, 2);
}

/** Writes the body of a request with a call as it was typed: `JSON.stringify` would round its large numbers. */
export function withTypedCall(call: string): (body: unknown) => string {
  return (body) => {
    const others = JSON.stringify({ ...(body as object), call: undefined });
    return others === '{}' ? `{"call":${call}}` : `${others.slice(0, -1)},"call":${call}}`;
  };
}
