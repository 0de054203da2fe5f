/** The record of `events` for a call that control makes, in the form that ingest writes. */
import { readCall, userKey, type ReadOptions } from '@tailrace/events';
import type { OutgoingRecord } from '@tailrace/kafka';

/** @param call with its messageId. A call that is not valid is a defect */
export function callRecord(
  topic: string,
  sourceId: string,
  call: { readonly messageId: string },
  options: Omit<ReadOptions, 'fallbackMessageId'>,
): OutgoingRecord {
  const reading = readCall(call, { ...options, fallbackMessageId: () => call.messageId });
  if (!reading.ok) throw new Error(reading.message);
  const { event } = reading;
  return { topic, key: userKey(event), value: JSON.stringify(event), headers: { 'source-id': sourceId } };
}
