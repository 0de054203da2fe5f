import { useEffect, useState } from 'preact/hooks';
import { ApiError, connectionLost, generation, signedOut } from './api/client.ts';
import { loadSession, session } from './api/session.ts';
import { Questions } from './parts/dialog.tsx';
import { ErrorNote, Toasts } from './parts/notes.tsx';
import { Navigation } from './shell/navigation.tsx';
import { PageView } from './shell/page-view.tsx';
import { Palette } from './shell/palette.tsx';
import { SignIn, SignInAgain } from './shell/sign-in.tsx';
import { ConnectionNote, Top } from './shell/top.tsx';

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
      {value && <Shell key={JSON.stringify([value.name, value.scope, value.sources, value.destinations])} />}
      {value && signedOut.value && <SignInAgain />}
      <ConnectionNote />
      <Toasts />
      <Questions />
    </>
  );
}

function Shell() {
  return (
    <div class={signedOut.value ? 'shell away' : 'shell'}>
      <Navigation />
      <Top />
      <PageView />
      <Palette />
    </div>
  );
}
