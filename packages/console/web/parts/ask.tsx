/** A field for an id, which leads to what the page shows of it. */
import { useLayoutEffect, useState } from 'preact/hooks';
import { go } from '../url/location.ts';
import { Button } from './button.tsx';
import { TextField } from './field.tsx';

interface AskProps {
  /** The page that shows the id, and the step of the address that names it. */
  readonly page: string;
  /** What is shown now; empty for nothing. */
  readonly id: string;
  readonly label: string;
  readonly hint: string;
  /** The text of the button. */
  readonly action: string;
}

export function Ask({ page, id, label, hint, action }: AskProps) {
  const [typed, setTyped] = useState(id);
  useLayoutEffect(() => setTyped(id), [id]);
  return (
    <form
      class="ask"
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        if (typed.trim() !== '') go([page, typed.trim()]);
      }}
    >
      <TextField label={label} value={typed} onValue={setTyped} mono autofocus={id === ''} hint={hint} />
      <Button type="submit" kind="main-action">
        {action}
      </Button>
    </form>
  );
}
