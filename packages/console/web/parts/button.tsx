import type { ButtonHTMLAttributes, ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';

interface ButtonProps {
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

/** A link that looks like a button. */
export function LinkButton({
  href,
  children,
  kind,
  small,
}: Pick<ButtonProps, 'children' | 'kind' | 'small'> & { readonly href: string }) {
  return (
    <a href={href} class={['button', kind, small && 'small'].filter(Boolean).join(' ')}>
      {children}
    </a>
  );
}
