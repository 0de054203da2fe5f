/** Errors where they happened, and short notes about what was done. */
import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { ApiError } from '../api/client.ts';
import { errors } from '../text/errors.ts';
import { lookUp } from '../text/look-up.ts';
import { Button } from './button.tsx';

/** What is wrong and how to fix it, in the words of the API. */
export function ErrorNote({
  error,
  onRetry,
}: {
  readonly error: ApiError | undefined;
  readonly onRetry?: () => unknown;
}) {
  if (!error) return null;
  const { message, problems } = error;
  /** The message of several problems repeats them, unless some were cut off. */
  const repeats = problems.every(({ rule }) => message.includes(rule)) && !message.endsWith('more problems.');
  return (
    <div class="error-note stack tight" role="alert">
      <p>
        <strong>{titleOf(error)}</strong> {problems.length > 1 && repeats ? '' : message}
      </p>
      {problems.length > 1 && (
        <ul>
          {problems.map(({ field, rule }) => (
            <li key={`${field} ${rule}`}>
              <code>{field}</code> {rule}
            </li>
          ))}
        </ul>
      )}
      {onRetry && (
        <p>
          <Button small onClick={onRetry}>
            Try again
          </Button>
        </p>
      )}
    </div>
  );
}

function titleOf({ status, code }: ApiError): string {
  return lookUp(errors, code) ?? (status >= 500 || status === 0 ? errors.failed : errors.refused);
}

interface ToastOptions {
  readonly isBad?: boolean;
  /** Offered while the note is shown, where it brings back what was before. */
  readonly undo?: (() => unknown) | undefined;
}

interface Toast extends ToastOptions {
  readonly id: number;
  readonly message: ComponentChildren;
}

const toasts = signal<readonly Toast[]>([]);
const shownForMs = 6_000;
const undoForMs = 10_000;
const maxToasts = 4;
let nextId = 0;

/** Says that something was done. An error stays until it is closed. */
export function toast(message: ComponentChildren, options: ToastOptions = {}): void {
  const id = nextId++;
  toasts.value = [...toasts.value, { id, message, ...options }].slice(-maxToasts);
  if (options.isBad) return;
  setTimeout(() => close(id), options.undo ? undoForMs : shownForMs);
}

/** Runs an action: says that it is done, or why it is not. Returns undefined if it failed. */
export async function attempt<Result>(
  action: () => Promise<Result>,
  done?: string,
  undo?: () => unknown,
): Promise<Result | undefined> {
  try {
    const result = await action();
    if (done !== undefined) toast(done, { undo });
    return result;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    toast(error.message, { isBad: true });
    return undefined;
  }
}

function close(id: number): void {
  toasts.value = toasts.value.filter((one) => one.id !== id);
}

/** Stands once in the shell. */
export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map(({ id, message, isBad, undo }) => (
        <div key={id} class={isBad ? 'toast bad appear' : 'toast appear'}>
          <p>{message}</p>
          {undo && (
            <Button
              small
              onClick={() => {
                close(id);
                return undo();
              }}
            >
              Undo
            </Button>
          )}
          <Button small kind="plain" label="Close" onClick={() => close(id)}>
            ✕
          </Button>
        </div>
      ))}
    </div>
  );
}
