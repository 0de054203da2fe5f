/** The period of a list, as its address has it, and as the fields of times show it: in the zone of the reader, to the minute. */
import { formatLocal } from '../parts/format.ts';

type Query = Readonly<Record<string, string>>;

/** Whether the period lies between two times, and is not a span before now. */
export function isBetweenTimes({ since = '', until = '' }: Query): boolean {
  return until !== '' || /^\d{4}-/.test(since);
}

/** The text of a field for a time of the address; what was typed into the field is that text already. */
export function toField(time: string): string {
  if (!time.endsWith('Z')) return time;
  const date = new Date(time);
  return Number.isNaN(date.getTime()) ? '' : formatLocal(date).slice(0, 16).replace(' ', 'T');
}

/** The time of a field in UTC. */
export function toTime(field: string): string {
  const date = new Date(field);
  return field.endsWith('Z') || Number.isNaN(date.getTime()) ? field : date.toISOString();
}
