/** Counts the places of the table of what is shared, and refuses a request that has none. */
import { TailraceError } from '@tailrace/errors';
import type { Caller } from './authenticate.ts';
import { isLimited } from './limits.ts';
import { shared, type PlacesEntry, type PlacesName } from './shared.ts';

/** Who asks for a place. Undefined for the service itself. */
export type Asker = Pick<Caller, 'tokenId' | 'fingerprint' | 'sources' | 'destinations'> | undefined;

/** Who has a place. */
export interface Held {
  /** Each has a share. */
  readonly holders: readonly string[];
  readonly isLimited: boolean;
}

export interface Owner {
  readonly token: string;
  readonly isLimited: boolean;
}

export function ownerOf(asker: Asker): Owner {
  return { token: asker?.tokenId ?? asker?.fingerprint ?? '', isLimited: isLimited(asker) };
}

/** @param id of the source or destination that the place is for */
export function heldBy(name: PlacesName, { token, isLimited }: Owner, id = ''): Held {
  const { holder } = shared[name];
  if (holder === 'token') return { holders: [`token ${token}`], isLimited };
  return { holders: isLimited ? [`token ${token}`, `${holder} ${id}`] : [], isLimited };
}

/**
 * Checks that one more place may be had beside the held ones.
 *
 * @throws TailraceError `too-many-at-once`, or the code of the entry
 */
export function requirePlace(name: PlacesName, held: Iterable<Held>, wanted: Held): void {
  const {
    what,
    of,
    most,
    ofLimited,
    holder,
    ofOne,
    code = 'too-many-at-once',
    retryAfterS = 5,
  }: PlacesEntry = shared[name];
  const all = [...held];
  const refuse = (has: string): never => {
    const where = of === 'instance' ? ' in this instance' : '';
    const message = `${has} ${what}${where}, the maximum. Send the request again when one of them has ended.`;
    throw new TailraceError(code, message, { retryAfterS });
  };
  for (const one of wanted.holders) {
    if (all.filter(({ holders }) => holders.includes(one)).length < ofOne) continue;
    refuse(
      one.startsWith('token ')
        ? `The token has ${ofOne}`
        : `The limited tokens of this ${holder} have ${ofOne}`,
    );
  }
  if (wanted.isLimited && all.filter(({ isLimited }) => isLimited).length >= ofLimited) {
    refuse(`Limited tokens have ${ofLimited}`);
  }
  if (all.length >= most) refuse(`There are ${most}`);
}

/** The places of this instance. */
export class Places {
  readonly #name: PlacesName;
  readonly #held = new Set<Held>();

  constructor(name: PlacesName) {
    this.#name = name;
  }

  /**
   * Takes a place until it is disposed of.
   *
   * @param id of the source or destination that the place is for
   * @throws TailraceError as `requirePlace`
   */
  take(asker: Asker, id?: string): Disposable {
    const held = heldBy(this.#name, ownerOf(asker), id);
    requirePlace(this.#name, this.#held, held);
    this.#held.add(held);
    return { [Symbol.dispose]: () => void this.#held.delete(held) };
  }
}
