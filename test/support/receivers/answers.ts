/** Ways in which a receiver answers or fails to answer. Each is a function of the response, called when the request has been read. */
import type { ServerResponse } from 'node:http';

export type Answer = (response: ServerResponse) => void;

export function status(code: number, headers: Readonly<Record<string, string>> = {}, body = ''): Answer {
  return (response) => {
    response.writeHead(code, headers).end(body);
  };
}

/** 429 with Retry-After: seconds, or an HTTP date. */
export function tooManyRequests(retryAfter: string): Answer {
  return status(429, { 'retry-after': retryAfter });
}

export function redirect(code: 301 | 302 | 303 | 307 | 308, location: string): Answer {
  return status(code, { location });
}

/** Keeps the connection open and never answers. */
export const never: Answer = () => undefined;

/** Sends a TCP reset instead of an answer. */
export const reset: Answer = (response) => {
  response.socket?.resetAndDestroy();
};

/** Answers after `delayMs`, unless the sender has disconnected by then. */
export function delayed(delayMs: number, answer: Answer): Answer {
  return (response) => {
    const timer = setTimeout(() => {
      answer(response);
    }, delayMs);
    response.once('close', () => {
      clearTimeout(timer);
    });
  };
}

/** The nth request gets the nth answer; the last answer is used for all later requests. */
export function sequence(
  ...answers: readonly [Answer, ...Answer[]]
): (request: unknown, nth: number) => Answer {
  return (_request, nth) => answers[Math.min(nth, answers.length) - 1] ?? answers[0];
}

/** Answers, and then closes the kept-alive connection without notice. */
export function thenClose(answer: Answer): Answer {
  return (response) => {
    const { socket } = response;
    response.once('finish', () => socket?.end());
    answer(response);
  };
}

/** A body of `bodyBytes`, written as fast as the sender reads; ends early when the sender disconnects. */
export function hugeBody(code: number, bodyBytes: number): Answer {
  return (response) => {
    const chunk = Buffer.alloc(65_536, 'x');
    let left = bodyBytes;
    response.writeHead(code);
    const more = (): void => {
      while (left > 0 && !response.destroyed) {
        const piece = chunk.subarray(0, Math.min(left, chunk.length));
        left -= piece.length;
        if (!response.write(piece)) {
          response.once('drain', more);
          return;
        }
      }
      response.end();
    };
    more();
  };
}

/** Headers of about `headerBytes` in total. */
export function hugeHeaders(code: number, headerBytes: number): Answer {
  const lines = Math.ceil(headerBytes / 1_000);
  const headers = Array.from(
    { length: lines },
    (_, index) => [`x-filler-${index}`, 'x'.repeat(985)] as const,
  );
  return status(code, Object.fromEntries(headers));
}

/** Sends the headers immediately, then one byte of the body every `everyMs` until the sender disconnects. */
export function trickle(code: number, everyMs: number): Answer {
  return (response) => {
    response.writeHead(code).flushHeaders();
    const timer = setInterval(() => response.write('.'), everyMs);
    response.once('close', () => {
      clearInterval(timer);
    });
  };
}

/** Answers that wait until the test opens the gate. */
export interface Gate {
  /** The number of requests that wait. */
  readonly waiting: number;
  /** The answer when the gate is open, also to later requests. */
  answer(then: Answer): Answer;
  open(): void;
}

export function closedGate(): Gate {
  const opened = Promise.withResolvers<undefined>();
  let waiting = 0;
  return {
    get waiting() {
      return waiting;
    },
    answer: (then) => (response) => {
      waiting += 1;
      void opened.promise.then(() => {
        waiting -= 1;
        then(response);
      });
    },
    open() {
      opened.resolve(undefined);
    },
  };
}
