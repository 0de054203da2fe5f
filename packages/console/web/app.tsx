import { useEffect, useState } from 'preact/hooks';
import { ApiError, connectionLost, generation, signedOut } from './api/client.ts';
import { loadSession, session } from './api/session.ts';
import { ErrorNote, Toasts } from './parts/notes.tsx';
import { ConnectionNote } from './shell/connection-note.tsx';
import { Outdated } from './shell/failed.tsx';
import { useLoaded } from './shell/loaded.ts';
import { SignIn, SignInAgain } from './shell/sign-in.tsx';

export function App() {
  const epoch = generation.value;
  const [error, setError] = useState<ApiError>();
  const load = async (): Promise<void> => {
    try {
      await loadSession();
      setError(undefined);
    } catch (reason) {
      const isRefused = reason instanceof ApiError && reason.status > 0 && reason.status < 500;
      // An answer that is not of control, or 429: to ask again without a pause would not help.
      if (isRefused || (reason instanceof ApiError && reason.code === 'unreadable')) setError(reason);
      else connectionLost();
    }
  };
  useEffect(() => void load(), [epoch]);
  const { value } = session;
  return (
    <>
      {value === undefined && error && (
        <main class="sign-in">
          <div class="card body stack">
            <h1>Tailrace</h1>
            <ErrorNote error={error} onRetry={load} />
          </div>
        </main>
      )}
      {value === null && <SignIn />}
      {/* Another token is another person, who gets nothing of what was typed or shown before. */}
      {value && (
        <SignedIn key={JSON.stringify([value.name, value.scope, value.sources, value.destinations])} />
      )}
      {value && signedOut.value && <SignInAgain />}
      <ConnectionNote />
      <Toasts />
    </>
  );
}

const loadShell = () => import('./shell/index.tsx');

function SignedIn() {
  const { module, error } = useLoaded(loadShell);
  if (module) return <module.Shell />;
  if (error === undefined) return null;
  return (
    <main class="sign-in">
      <Outdated error={error} />
    </main>
  );
}
