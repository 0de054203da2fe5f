import type { ButtonHTMLAttributes, ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';

export interface ButtonProps {
  readonly children: ComponentChildren;
  /** Until its promise settles, pressing again does nothing. */
  readonly onClick?: () => unknown;
  readonly kind?: 'main-action' | 'danger' | 'danger main-action' | 'plain';
  readonly small?: boolean;
  readonly type?: 'button' | 'submit';
  readonly disabled?: boolean;
  /** Pressing does nothing. Unlike a disabled button it keeps the focus. */
  readonly isBusy?: boolean;
  readonly label?: string;
  readonly extra?: ButtonHTMLAttributes;
}

export function Button({
  children,
  onClick,
  kind,
  small,
  type = 'button',
  disabled,
  isBusy,
  label,
  extra,
}: ButtonProps) {
  const [isRunning, setRunning] = useState(false);
  const isWaiting = isBusy === true || isRunning;
  const press = async (): Promise<void> => {
    if (!onClick) return;
    setRunning(true);
    try {
      await onClick();
    } finally {
      setRunning(false);
    }
  };
  return (
    <button
      {...extra}
      type={type}
      class={['button', kind, small && 'small'].filter(Boolean).join(' ')}
      disabled={disabled}
      aria-disabled={isWaiting ? true : undefined}
      aria-busy={isWaiting}
      aria-label={label}
      onClick={(event) => {
        // It is also the click by which Enter in a field sends a form.
        if (isWaiting) event.preventDefault();
        else void press();
      }}
    >
      {children}
    </button>
  );
}

/** Buttons of which one is pressed: the current choice. */
export function Choices<Name extends string>({
  label,
  choices,
  current,
  onChoose,
}: {
  readonly label: string;
  readonly choices: readonly (readonly [name: Name, title: string])[];
  readonly current: Name | undefined;
  readonly onChoose: (name: Name) => void;
}) {
  return (
    <div class="choices" role="group" aria-label={label}>
      {choices.map(([name, title]) => (
        <Button key={name} small extra={{ 'aria-pressed': name === current }} onClick={() => onChoose(name)}>
          {title}
        </Button>
      ))}
    </div>
  );
}

/** A link that looks like a button. */
export function LinkButton({
  href,
  children,
  kind,
  small,
  title,
  download,
}: Pick<ButtonProps, 'children' | 'kind' | 'small'> & {
  readonly href: string;
  readonly title?: string;
  readonly download?: boolean;
}) {
  return (
    <a
      href={href}
      title={title}
      download={download}
      class={['button', kind, small && 'small'].filter(Boolean).join(' ')}
    >
      {children}
    </a>
  );
}
