/** A field for an id, which leads to what the page shows of it. */
import { useLayoutEffect, useState } from 'preact/hooks';
import { Button } from './button.tsx';
import { TextField } from './field.tsx';

interface AskProps {
  /** What is shown now; empty for nothing. */
  readonly id: string;
  readonly label: string;
  readonly hint: string;
  /** The text of the button. */
  readonly action: string;
  readonly onAsk: (id: string) => void;
  /** The field has the focus while nothing is shown. */
  readonly autofocus?: boolean;
}

export function Ask({ id, label, hint, action, onAsk, autofocus = true }: AskProps) {
  const [typed, setTyped] = useState(id);
  useLayoutEffect(() => setTyped(id), [id]);
  return (
    <form
      class="ask"
      role="search"
      aria-label={action}
      onSubmit={(event) => {
        event.preventDefault();
        if (typed.trim() !== '') onAsk(typed.trim());
      }}
    >
      <TextField
        label={label}
        value={typed}
        onValue={setTyped}
        mono
        autofocus={autofocus && id === ''}
        hint={hint}
      />
      <Button type="submit" kind="main-action">
        {action}
      </Button>
    </form>
  );
}
