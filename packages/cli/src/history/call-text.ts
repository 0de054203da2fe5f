/** A call of a source as a line, for `calls`. */
import { coloured } from '../terminal/coloured.ts';
import { printable } from '../terminal/table.ts';

/** A line of the stream. Only the first of a call has its content. */
export interface LiveCall {
  readonly id: string;
  readonly receivedAt?: string;
  readonly outcome: string;
  readonly type?: string;
  readonly event?: string;
  readonly userKey?: string;
  readonly eventId?: string;
  readonly destinations: readonly string[];
  readonly filtered: readonly { readonly reason: string; readonly destinations: readonly string[] }[];
  readonly status?: number;
  readonly code?: string;
  readonly message?: string;
  readonly call?: string | undefined;
}

const colours: Readonly<Record<string, Parameters<typeof coloured>[0]>> = {
  routed: 'green',
  rejected: 'red',
  blocked: 'yellow',
  filtered: 'yellow',
  'no-destination': 'yellow',
  repeated: 'yellow',
};

export function callLine(call: LiveCall): string {
  const { receivedAt, outcome, type, event, userKey, eventId, destinations, filtered, status, message } =
    call;
  const exits = filtered.map(({ reason, destinations }) => `${reason}: ${destinations.join(', ')}`);
  const parts = [
    [type, event].filter((part) => part !== undefined).join(' '),
    userKey,
    eventId,
    destinations.length > 0 ? `→ ${destinations.join(', ')}` : undefined,
    ...exits,
    status === undefined ? undefined : `answered with ${status}`,
    message,
  ];
  return [
    coloured('dim', receivedAt ?? ''),
    coloured(colours[outcome] ?? 'dim', outcome.padEnd(14)),
    ...parts.flatMap((part) => (part === undefined || part === '' ? [] : [printable(part)])),
  ].join('  ');
}
