import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import type { ApiError } from '../api/client.ts';
import { ErrorNote } from './notes.tsx';

interface CardProps {
  readonly title?: ComponentChildren;
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
  /** Without space around the content, for tables. */
  readonly flush?: boolean;
}

export function Card({ title, actions, children, flush }: CardProps) {
  const id = useId();
  return (
    <section class="card" aria-labelledby={title === undefined ? undefined : id}>
      {title !== undefined && (
        <header>
          <h2 id={id}>{title}</h2>
          {actions}
        </header>
      )}
      <div class={flush ? undefined : 'body'}>{children}</div>
    </section>
  );
}

/** Of the document, for the tabs and the history of the browser. */
export function titleOf(heading: string): string {
  return `${heading} · Tailrace`;
}

/** The head of a page: its title, a sentence that says what it is for, and its actions. */
export function PageHead({
  title,
  lead,
  children,
}: {
  readonly title: ComponentChildren;
  readonly lead?: ComponentChildren;
  readonly children?: ComponentChildren;
}) {
  const heading = useRef<HTMLHeadingElement>(null);
  useLayoutEffect(() => {
    document.title = titleOf(heading.current?.textContent ?? '');
  });
  return (
    <header class="page-head">
      <div>
        <h1 ref={heading}>{title}</h1>
        {lead !== undefined && <p class="lead">{lead}</p>}
      </div>
      {children !== undefined && <div class="row">{children}</div>}
    </header>
  );
}

/** A page about one entry, until the entry is loaded or where it cannot be. */
export function PageOfEntry({
  title,
  error,
  onRetry,
}: {
  readonly title: string;
  readonly error: ApiError | undefined;
  readonly onRetry: () => unknown;
}) {
  return (
    <div class="stack">
      <PageHead title={title} />
      {error ? (
        <ErrorNote error={error} onRetry={onRetry} />
      ) : (
        <div class="skeleton page-skeleton" aria-busy="true" />
      )}
    </div>
  );
}

interface EmptyProps {
  readonly title: string;
  readonly lead?: string;
  readonly children?: ComponentChildren;
}

/** Says what belongs here, and what to do so that it does. */
export function Empty({ title, lead, children }: EmptyProps) {
  return (
    <div class="empty">
      <p class="title">{title}</p>
      {lead !== undefined && <p>{lead}</p>}
      {children}
    </div>
  );
}
