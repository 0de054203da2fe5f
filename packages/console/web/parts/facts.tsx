import { Fragment, type ComponentChildren } from 'preact';

/** Facts about an entry, each below its label. Those without content are left out. */
export function Facts({
  of,
}: {
  readonly of: readonly (readonly [label: string, content: ComponentChildren])[];
}) {
  return (
    <dl class="facts">
      {of
        .filter(([, content]) => content !== undefined && content !== false)
        .map(([label, content]) => (
          <Fragment key={label}>
            <dt>{label}</dt>
            <dd>{content}</dd>
          </Fragment>
        ))}
    </dl>
  );
}
