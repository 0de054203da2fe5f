/**
 * Keeps a sample of the calls that were refused for what they are, in `events.rejected`, so that the owner of a source sees why its calls
 * fail (`tailrace calls`). Their senders still own them.
 *
 * Anybody can send with a public write key. So the sample of a source is bounded in calls and in bytes, no answer waits for it, and what
 * Kafka does not take is dropped.
 */
import type { Source } from '@tailrace/config';
import { isTailraceError, TailraceError, type ErrorCode } from '@tailrace/errors';
import { writeJson } from '@tailrace/events';
import type { OutgoingRecord, Publisher } from '@tailrace/kafka';

interface Reason {
  readonly code: ErrorCode;
  readonly message: string;
}

interface SentCall {
  /** The bytes of one that is not JSON. */
  readonly call?: unknown;
  /** Where the path names it. */
  readonly type?: string;
}

export interface RefusedCalls {
  /** Keeps nothing of `sent` after it returns: a parsed call can be a hundred times larger than its bytes. */
  keep(source: Source, reason: Reason, sent?: SentCall): void;
}

/** Of one source in a minute, in each replica. Longer contents are cut. */
export const refusedSample = { calls: 10, bytes: 32 * 1024, bytesOfCall: 8 * 1024 } as const;
const periodMs = 60_000;
/** Of all sources, while Kafka has not acknowledged them. */
const maxWaiting = 100;

/** Of what is wrong with the call itself. Others pass when they are sent again. */
const kept: ReadonlySet<ErrorCode> = new Set([
  'invalid-call',
  'call-too-large',
  'batch-too-large',
  'malformed-json',
  'unsupported-encoding',
]);

export function createRefusedCalls(
  publisher: Pick<Publisher, 'publish'>,
  topic: string,
  now: () => number = () => performance.now(),
): RefusedCalls {
  let began = now();
  let samples = new Map<string, { calls: number; bytes: number }>();
  let waiting = 0;

  const sampleOf = (id: string) => {
    if (now() - began >= periodMs) {
      began = now();
      samples = new Map();
    }
    const sample = samples.get(id) ?? { calls: 0, bytes: 0 };
    samples.set(id, sample);
    return sample;
  };

  const publish = async (record: OutgoingRecord): Promise<void> => {
    waiting += 1;
    try {
      await publisher.publish(record);
    } catch (error) {
      if (!isTailraceError(error)) throw error;
    } finally {
      waiting -= 1;
    }
  };

  return {
    keep(source, { code, message }, { call, type } = {}) {
      if (!kept.has(code) || waiting >= maxWaiting) return;
      const sample = sampleOf(source.id);
      const { calls, bytes, bytesOfCall } = refusedSample;
      if (sample.calls >= calls || sample.bytes + bytesOfCall > bytes) return;
      const value = call === undefined ? null : firstOf(call, bytesOfCall);
      sample.calls += 1;
      sample.bytes += value?.length ?? 0;
      const headers = {
        'source-id': source.id,
        'error-code': code,
        'error-message': message,
        origin: 'ingest',
        status: String(new TailraceError(code).status),
        ...(type !== undefined && { type }),
      };
      void publish({ topic, key: null, value, headers });
    },
  };
}

/** A copy: a part of a buffer would keep all of it in memory. */
function firstOf(call: unknown, length: number): Buffer {
  const bytes = Buffer.isBuffer(call) ? call : Buffer.from(writeJson(call));
  return Buffer.from(bytes.subarray(0, length));
}
