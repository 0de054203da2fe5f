/** A call of a source as a line, for `calls`. */
import type { Schema } from '@tailrace/api';
import { coloured } from '../terminal/coloured.ts';
import { printable } from '../terminal/table.ts';

export type LiveCall = Schema['LiveCall'];

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
