/**
 * The state of the token of a destination, without I/O. README.md draws it. Times are milliseconds of a monotonic clock.
 */

export type TokenState =
  | { readonly kind: 'none' }
  | Fetching
  | Valid
  | Renewing
  /** No token: the token server has failed, and is not asked before `until`. */
  | { readonly kind: 'refused'; readonly failure: TokenFailure; readonly until: number };

export interface TokenFailure {
  readonly reason: 'token-unavailable' | 'proxy-unreachable' | 'proxy-unauthorized';
  /** Without secrets. */
  readonly detail: string;
}

/** No token yet; requests wait. */
interface Fetching {
  readonly kind: 'fetching';
  readonly since: number;
  /** Whether a receiver has refused the one before. */
  readonly isReplacement: boolean;
}

interface Valid {
  readonly kind: 'valid';
  readonly token: string;
  readonly until: number;
  /** From when the first request that uses it fetches the next one. */
  readonly renewFrom: number;
  /** Until when it stays although a receiver refuses it. */
  readonly keptUntil: number;
}

/** The next token is fetched; requests use this one meanwhile. */
interface Renewing extends Omit<Valid, 'kind' | 'renewFrom'> {
  readonly kind: 'renewing';
  readonly since: number;
}

export type TokenEvent =
  /** A request needs a token. */
  | { readonly kind: 'needed' }
  | { readonly kind: 'fetched'; readonly token: string; readonly lifetimeMs: number }
  | { readonly kind: 'failed'; readonly failure: TokenFailure }
  /** A receiver has answered 401 to this token. */
  | { readonly kind: 'rejected'; readonly token: string };

/** The part of its lifetime after which a token is renewed. */
const renewAfterPart = 0.75;
/** A token is not used in the last part of its lifetime, at most for so long: the request is under way meanwhile. */
const unused = { part: 0.1, mostMs: 10_000 };
/** Without a token. Shorter than the first pause of a circuit breaker, so that each of its probes asks. */
const pauseMs = 1_000;
const renewAgainMs = 10_000;
/** A receiver that refuses a replacement would refuse the next one too. */
const replacementKeptMs = 10_000;

export const noToken: TokenState = { kind: 'none' };

/** A state that fetches is left by `fetched` or `failed` alone: there is one request at a time. */
export function isFetching(state: TokenState): state is Fetching | Renewing {
  return state.kind === 'fetching' || state.kind === 'renewing';
}

export function nextState(state: TokenState, event: TokenEvent, now: number): TokenState {
  switch (event.kind) {
    case 'needed':
      return whenNeeded(state, now);
    case 'fetched': {
      if (!isFetching(state)) return state;
      const { token, lifetimeMs } = event;
      const isReplacement = state.kind === 'fetching' && state.isReplacement;
      return {
        kind: 'valid',
        token,
        // The server counts from some moment after the request was made.
        until: state.since + lifetimeMs - Math.min(lifetimeMs * unused.part, unused.mostMs),
        renewFrom: state.since + lifetimeMs * renewAfterPart,
        keptUntil: isReplacement ? now + replacementKeptMs : -Infinity,
      };
    }
    case 'failed': {
      if (!isFetching(state)) return state;
      if (state.kind === 'fetching' || now >= state.until) {
        return { kind: 'refused', failure: event.failure, until: now + pauseMs };
      }
      const { token, until, keptUntil } = state;
      return { kind: 'valid', token, until, keptUntil, renewFrom: now + renewAgainMs };
    }
    case 'rejected':
      return whenRejected(state, event.token, now);
  }
}

function whenNeeded(state: TokenState, now: number): TokenState {
  switch (state.kind) {
    case 'none':
      return { kind: 'fetching', since: now, isReplacement: false };
    case 'refused':
      return now < state.until ? state : { kind: 'fetching', since: now, isReplacement: false };
    case 'fetching':
      return state;
    case 'renewing':
      return now < state.until ? state : { kind: 'fetching', since: state.since, isReplacement: false };
    case 'valid': {
      if (now >= state.until) return { kind: 'fetching', since: now, isReplacement: false };
      if (now < state.renewFrom) return state;
      const { token, until, keptUntil } = state;
      return { kind: 'renewing', token, until, keptUntil, since: now };
    }
  }
}

/** A token that was replaced already, or only a moment ago, stays. */
function whenRejected(state: TokenState, token: string, now: number): TokenState {
  if (state.kind !== 'valid' && state.kind !== 'renewing') return state;
  if (state.token !== token || now < state.keptUntil) return state;
  return { kind: 'fetching', since: state.kind === 'valid' ? now : state.since, isReplacement: true };
}
