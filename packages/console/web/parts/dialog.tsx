/**
 * Windows over the page, on the dialog element of the platform: it keeps the focus inside, closes on Escape, and returns the focus to
 * where it was.
 */
import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import { place } from '../url/location.ts';
import { Button } from './button.tsx';

interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
  readonly className?: string;
}

export function Dialog({ title, onClose, children, className = 'window' }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  const id = useId();
  const isShown = useRef(true);
  /** Whether the pointer was pressed outside. A selection that begins in a field and ends outside closes nothing. */
  const isOutside = useRef(false);
  useLayoutEffect(() => {
    const dialog = element.current;
    dialog?.showModal();
    return () => {
      isShown.current = false;
      // Only its own closing returns the focus, and not its removal.
      dialog?.close();
    };
  }, []);
  return (
    <dialog
      ref={element}
      class={className}
      aria-labelledby={id}
      onClose={() => {
        if (isShown.current) onClose();
      }}
      onPointerDown={(event) => {
        isOutside.current = !isWithin(event.currentTarget, event);
      }}
      onClick={(event) => {
        if (isOutside.current) event.currentTarget.close();
        isOutside.current = false;
      }}
    >
      <h2 id={id}>{title}</h2>
      {children}
    </dialog>
  );
}

function isWithin(element: Element, { clientX, clientY }: PointerEvent): boolean {
  const { left, right, top, bottom } = element.getBoundingClientRect();
  return clientX >= left && clientX <= right && clientY >= top && clientY <= bottom;
}

export interface Question {
  readonly title: string;
  /** A text, or paragraphs. */
  readonly message: ComponentChildren;
  readonly action: string;
  readonly danger?: boolean;
}

interface Asked extends Question {
  readonly answer: (isConfirmed: boolean) => void;
}

const question = signal<Asked | undefined>(undefined);

/** Asks before something is lost. Resolves with whether it was confirmed. */
export function confirmed(asked: Question): Promise<boolean> {
  return new Promise((resolve) => {
    question.value = {
      ...asked,
      answer(isConfirmed) {
        question.value = undefined;
        resolve(isConfirmed);
      },
    };
  });
}

/** Stands once in the shell. */
export function Questions() {
  const asked = question.value;
  const shownAt = place.value;
  // Not after the next frame: a question that is asked meanwhile is one of the new page.
  useLayoutEffect(
    () => () => {
      // The question belongs to the page that was left.
      question.peek()?.answer(false);
    },
    [shownAt],
  );
  if (!asked) return null;
  const { title, message, action, danger } = asked;
  const cancel = (): void => asked.answer(false);
  const confirm = (): void => asked.answer(true);
  return (
    <Dialog title={title} onClose={cancel}>
      <div class="stack tight">{typeof message === 'string' ? <p>{message}</p> : message}</div>
      <div class="actions">
        <Button onClick={cancel}>Cancel</Button>
        <Button kind={danger ? 'danger main-action' : 'main-action'} onClick={confirm}>
          {action}
        </Button>
      </div>
    </Dialog>
  );
}
