/** A button that changes something: it may ask before, says what was done or why not, and has its page show it. */
import { Button, type ButtonProps } from './button.tsx';
import { confirmed, type Question } from './dialog.tsx';
import { attempt } from './notes.tsx';

interface ActionProps<Answer> extends Pick<ButtonProps, 'kind' | 'small' | 'label'> {
  readonly children: string;
  /** Without an action of its own, its button has the text and the kind of this one. */
  readonly question?: Partial<Question> & Pick<Question, 'title' | 'message'>;
  readonly request: () => Promise<Answer>;
  readonly done: string;
  /** Brings back what was before. */
  readonly undo?: () => unknown;
  /** Gets nothing where the request failed. */
  readonly after: (answer: Answer | undefined) => unknown;
}

export function Action<Answer>({
  children,
  question,
  request,
  done,
  undo,
  after,
  ...button
}: ActionProps<Answer>) {
  const act = async (): Promise<void> => {
    const asked = { action: children, danger: button.kind === 'danger' };
    if (question && !(await confirmed({ ...asked, ...question }))) return;
    await after(await attempt(request, done, undo));
  };
  return (
    <Button {...button} onClick={act}>
      {children}
    </Button>
  );
}
