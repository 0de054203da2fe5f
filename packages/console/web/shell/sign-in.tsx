import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { signIn } from '../api/session.ts';
import { Button } from '../parts/button.tsx';
import { TextField } from '../parts/field.tsx';
import { useSubmission } from '../parts/form.ts';
import { ErrorNote } from '../parts/notes.tsx';

const words = {
  tokenHint: 'Sent once and not stored in the browser. The session lasts up to 12 hours.',
};

export function SignIn() {
  return (
    <main class="sign-in">
      <Form
        title={<h1>Tailrace</h1>}
        lead={
          <>
            Use a management API token. <code>npm start</code> prints one, and administrators can create more.
          </>
        }
      />
    </main>
  );
}

/** Over the page whose session has ended. The page stays as it is, and is not seen. */
export function SignInAgain() {
  const element = useRef<HTMLDialogElement>(null);
  const open = (): void => {
    if (element.current?.isConnected && !element.current.open) element.current.showModal();
  };
  useLayoutEffect(open, []);
  return (
    <dialog
      ref={element}
      class="sign-in again"
      aria-label="Sign in"
      onCancel={(event) => event.preventDefault()}
      // A second Escape closes it in any case.
      onClose={open}
    >
      <Form
        title={<h2>Tailrace</h2>}
        lead="Your session has ended. Sign in again to continue where you left off."
      />
    </dialog>
  );
}

interface FormProps {
  readonly title: ComponentChildren;
  readonly lead: ComponentChildren;
}

/** The token leaves the form in one request. */
function Form({ title, lead }: FormProps) {
  const [token, setToken] = useState('');
  const { isBusy, error, run } = useSubmission();
  return (
    <form
      class="card stack"
      onSubmit={(event) => {
        event.preventDefault();
        void run(() => signIn(token.trim()));
      }}
    >
      <div class="stack tight">
        {title}
        <p class="quiet">{lead}</p>
      </div>
      <TextField
        label="Token"
        hint={words.tokenHint}
        type="password"
        value={token}
        onValue={setToken}
        required
        autofocus
        problem={
          error?.status === 401 ? 'Invalid token. It may have been revoked or have expired.' : undefined
        }
      />
      {error?.status !== 401 && <ErrorNote error={error} />}
      <Button type="submit" kind="main-action" isBusy={isBusy}>
        Sign in
      </Button>
    </form>
  );
}
