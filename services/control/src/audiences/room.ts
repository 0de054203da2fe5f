/** What an upload and its sync take up until they have ended: a place, the file of the members, and the time of a limited token. */
import { TailraceError } from '@tailrace/errors';
import { amounts, shared } from '../access/shared.ts';
import { unlessAborted } from '../records/deadline.ts';
import { openMembership, type Membership } from './sync/membership.ts';
import { tooLongProblem, type Problem } from './sync/problems.ts';
import type { AudienceSync } from './state/records.ts';

export interface RoomOptions {
  readonly kind: AudienceSync['kind'];
  /** Of a limited token. */
  readonly isLimited: boolean;
  /** For the file of the members. */
  readonly folder: string;
  /** For a limited token. Default: that of the table of what is shared. */
  readonly longestMs: number | undefined;
  /** Aborted, with the problem, when the instance closes. */
  readonly closing: AbortSignal;
}

/** @param place is given back with the room */
export function takeRoom(
  place: Disposable,
  { kind, isLimited, folder, longestMs = shared.audienceSyncs.longestMs, closing }: RoomOptions,
): Room {
  using taken = new DisposableStack();
  taken.use(place);
  const maxBytes = isLimited ? amounts.membershipBytesOfLimited : undefined;
  const membership = taken.adopt(openMembership(folder, kind, maxBytes), (opened) => opened.close());
  const late = new AbortController();
  const onLate = (): void => late.abort(tooLongProblem);
  if (isLimited) taken.adopt(setTimeout(onLate, longestMs), clearTimeout);
  return new Room(taken.move(), membership, AbortSignal.any([closing, late.signal]));
}

export class Room implements Disposable {
  readonly membership: Membership;
  /** Aborted with the problem for which the upload or its sync has to stop. */
  readonly signal: AbortSignal;
  #taken: DisposableStack;

  constructor(taken: DisposableStack, membership: Membership, signal: AbortSignal) {
    this.#taken = taken;
    this.membership = membership;
    this.signal = signal;
  }

  /** The same room, which outlives this one. */
  keep(): Room {
    return new Room(this.#taken.move(), this.membership, this.signal);
  }

  /** @throws TailraceError once the signal is aborted, with its problem */
  unlessAborted<T>(work: Promise<T>): Promise<T> {
    return unlessAborted(this.signal, work, problemError);
  }

  [Symbol.dispose](): void {
    this.#taken.dispose();
  }
}

function problemError(problem: unknown): TailraceError {
  const { code, message } = problem as Problem;
  return new TailraceError(code, message);
}
