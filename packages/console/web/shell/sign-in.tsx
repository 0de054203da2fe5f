import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { signIn } from '../api/session.ts';
import { Button } from '../parts/button.tsx';
import { TextField } from '../parts/field.tsx';
import { useSubmission } from '../parts/form.ts';
import { ErrorNote } from '../parts/notes.tsx';
import { text } from '../text/index.ts';

export function SignIn() {
  return (
    <main class="sign-in">
      <Form title={<h1>{text.shell.name}</h1>} lead={text.shell.signInLead} />
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
      aria-label={text.shell.signIn}
      onCancel={(event) => {
        event.preventDefault();
      }}
      // A second Escape closes it in any case.
      onClose={open}
    >
      <Form title={<h2>{text.shell.name}</h2>} lead={text.shell.ended} />
    </dialog>
  );
}

interface FormProps {
  readonly title: ComponentChildren;
  readonly lead: string;
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
        label={text.shell.token}
        hint={text.shell.tokenHint}
        type="password"
        value={token}
        onValue={setToken}
        required
        autofocus
        problem={error?.status === 401 ? text.shell.wrongToken : undefined}
      />
      {error?.status !== 401 && <ErrorNote error={error} />}
      <Button type="submit" kind="main-action" isBusy={isBusy}>
        {text.shell.signIn}
      </Button>
    </form>
  );
}
