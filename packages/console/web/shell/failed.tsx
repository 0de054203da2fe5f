/** In place of a page that cannot be shown. */
import { Button } from '../parts/button.tsx';
import { PageHead } from '../parts/card.tsx';

interface FailedProps {
  readonly error: unknown;
  readonly title?: string;
}

export function Failed({ error, title = 'This page could not be displayed' }: FailedProps) {
  return (
    <div class="stack">
      <PageHead title={title} lead="Reload the page. If the problem continues, report the message below." />
      <Button kind="main-action" onClick={() => window.location.reload()}>
        Reload
      </Button>
      <code class="breakable">{error instanceof Error ? error.message : String(error)}</code>
    </div>
  );
}

/** A server of another release does not have the file any more. */
export function Outdated({ error }: Pick<FailedProps, 'error'>) {
  return <Failed error={error} title="A new version of the console is available." />;
}
