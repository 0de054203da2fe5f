/** A form that is sent to the API: busy while it is sent, with the error of the answer at its fields. */
import { useState } from 'preact/hooks';
import { ApiError } from '../api/client.ts';

export interface Submission {
  readonly isBusy: boolean;
  readonly error: ApiError | undefined;
  /** Resolves with whether it was done. */
  readonly run: (action: () => Promise<unknown>) => Promise<boolean>;
}

export function useSubmission(): Submission {
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError>();
  return {
    isBusy,
    error,
    async run(action) {
      setBusy(true);
      setError(undefined);
      try {
        await action();
        return true;
      } catch (reason) {
        if (!(reason instanceof ApiError)) throw reason;
        setError(reason);
        return false;
      } finally {
        setBusy(false);
      }
    },
  };
}

/** The number of a field; null where it is empty. Other text is sent as it is, and the answer states the rule. */
export function numberOf(typed: string): number | null {
  const trimmed = typed.trim();
  if (trimmed === '') return null;
  const number = Number(trimmed);
  return Number.isFinite(number) ? number : (trimmed as unknown as number);
}

/** The lines of a field, without empty ones. */
export function linesOf(typed: string): string[] {
  return typed
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

/** In place of `crypto.randomUUID`, which browsers do not have over plain HTTP. */
export function randomHex(bytes: number): string {
  const random = crypto.getRandomValues(new Uint8Array(bytes));
  return Array.from(random, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
