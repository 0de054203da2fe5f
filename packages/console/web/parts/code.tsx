/** Text of others: bodies, answers, ids. Always as text: nothing here becomes markup. */
import type { ComponentChildren } from 'preact';
import { Button } from './button.tsx';
import { indentJson, maxShown } from './json-text.ts';
import { toast } from './notes.tsx';

export function Code({ children, label }: { readonly children: string; readonly label: string }) {
  const shown = children.length > maxShown ? `${children.slice(0, maxShown)}…` : children;
  return (
    <pre class="code" tabIndex={0} aria-label={label}>
      {shown}
    </pre>
  );
}

/** Indented, if it is JSON. Numbers keep their digits: only spaces between tokens change. */
export function Json({ children, label }: { readonly children: string; readonly label: string }) {
  return <Code label={label}>{indentJson(children)}</Code>;
}

export function CopyButton({
  of,
  isLarge = false,
  children = 'Copy',
}: {
  readonly of: string;
  readonly isLarge?: boolean;
  readonly children?: ComponentChildren;
}) {
  return (
    <Button
      small={!isLarge}
      kind={isLarge ? undefined : 'plain'}
      onClick={async () => {
        toast(
          (await copyText(of)) ? 'Copied.' : 'Your browser blocked copying. Select the text and copy it.',
        );
      }}
    >
      {children}
    </Button>
  );
}

/** The clipboard of the platform needs HTTPS or localhost; over plain HTTP a selection is copied. */
async function copyText(value: string): Promise<boolean> {
  if (window.isSecureContext) {
    return navigator.clipboard.writeText(value).then(
      () => true,
      () => false,
    );
  }
  const area = document.createElement('textarea');
  area.value = value;
  document.body.append(area);
  area.select();
  // oxlint-disable-next-line typescript/no-deprecated -- the only way without HTTPS
  const isCopied = document.execCommand('copy');
  area.remove();
  return isCopied;
}

/** An id that can be copied, in the type of code. */
export function Id({ of }: { readonly of: string }) {
  return (
    <span class="id">
      <code class="breakable">{of}</code>
      <CopyButton of={of} />
    </span>
  );
}
