/** The user who is signed in. The token itself is in no storage and in no variable after the sign-in: the cookie is HttpOnly. */
import { computed, signal } from '@preact/signals';
import {
  api,
  ApiError,
  ask,
  askWhole,
  connectionLost,
  generation,
  signedOut,
  urlOf,
  type Schema,
} from './client.ts';

export type Session = Schema['Session'];
export type Scope = Session['scope'];

/** Undefined until it is known, null if no user is signed in. */
export const session = signal<Session | null | undefined>(undefined);

const ranks: Readonly<Record<Scope, number>> = { read: 0, write: 1, admin: 2 };

/** Whether the token has the scope: what it may not do is not shown. The API decides in any case. */
export function may(scope: Scope): boolean {
  return session.value ? ranks[session.value.scope] >= ranks[scope] : false;
}

/** Whether the token is limited to some sources or destinations. */
export const isLimited = computed(
  () => session.value?.sources !== undefined || session.value?.destinations !== undefined,
);

/** Whether the token reaches only the deliveries of some sources to some destinations, and so no numbers of a whole destination. */
export const isLimitedToBoth = computed(
  () => session.value?.sources !== undefined && session.value.destinations !== undefined,
);

/** @throws ApiError */
export async function loadSession(): Promise<void> {
  try {
    begin(await ask(api.GET('/v1/session')));
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 401) throw error;
    // The values of open forms stay until the same token signs in again.
    if (session.peek()) signedOut.value = true;
    else session.value = null;
  }
}

function begin(own: Session): void {
  session.value = own;
  if (!signedOut.peek()) return;
  signedOut.value = false;
  // Requests that were refused meanwhile are sent again.
  generation.value += 1;
}

/** @throws ApiError */
export async function signIn(token: string): Promise<void> {
  const headers = { Authorization: `Bearer ${token}` };
  const { data } = await askWhole(api.POST('/v1/session', { headers }));
  begin(data);
  otherTabs?.postMessage('signed in');
}

export async function signOut(): Promise<void> {
  await ask(api.DELETE('/v1/session')).catch((error: unknown) => {
    if (!(error instanceof ApiError) || error.status !== 401) throw error;
  });
  session.value = null;
  otherTabs?.postMessage('signed out');
}

/** The other pages of this console in the browser, which share the cookie. */
const otherTabs =
  typeof BroadcastChannel === 'undefined'
    ? undefined
    : new BroadcastChannel(`tailrace session ${urlOf('/')}`);

/** A sign-in or sign-out in one of them is one in all. */
export function followSessions(): void {
  otherTabs?.addEventListener('message', () => void loadSession().catch(connectionLost));
}
