/** The page that the address names: loads it, and shows what is wrong where it fails. */
import { Component, type ComponentChildren, type FunctionComponent } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { pageOf, type PageEntry } from '../pages/index.ts';
import { PageHead, titleOf } from '../parts/card.tsx';
import { Button } from '../parts/button.tsx';
import { place, type PageProps } from '../url/location.ts';

const loaded = new Map<string, FunctionComponent<PageProps>>();

export function PageView() {
  const { steps, query } = place.value;
  const [name = '', ...rest] = steps;
  const page = pageOf(name);
  const main = useRef<HTMLElement>(null);
  const path = steps.join('/');
  const isFirst = useRef(true);
  useLayoutEffect(() => {
    // A screen reader begins with the new page, not with the link that led to it, or with the field that the page begins with.
    const isInside = main.current?.contains(document.activeElement);
    if (!isFirst.current && !isInside) main.current?.focus();
    isFirst.current = false;
    window.scrollTo(0, 0);
  }, [path]);
  return (
    <main class="main" id="content" ref={main} tabIndex={-1}>
      {page ? (
        <Boundary key={path}>
          <Loaded page={page} steps={rest} query={query} />
        </Boundary>
      ) : (
        <PageHead title="Page not found" lead="The address may be incomplete. Choose a page from the menu." />
      )}
    </main>
  );
}

function Loaded({ page, ...props }: PageProps & { readonly page: PageEntry }) {
  const [, setReady] = useState<string>();
  const [error, setError] = useState<unknown>(undefined);
  const Page = loaded.get(page.name);
  useEffect(() => {
    if (loaded.has(page.name)) return;
    page.load().then(
      ({ default: found }) => {
        loaded.set(page.name, found);
        setReady(page.name);
      },
      (reason: unknown) => setError(reason),
    );
  }, [page.name]);
  if (error !== undefined) return <Failed error={error} title="A new version of the console is available." />;
  return Page ? <Page {...props} /> : <Loading title={page.title} />;
}

function Loading({ title }: { readonly title: string }) {
  useLayoutEffect(() => {
    document.title = titleOf(title);
  }, [title]);
  return <div class="skeleton page-skeleton" aria-busy="true" />;
}

function Failed({
  error,
  title = 'This page could not be displayed',
}: {
  readonly error: unknown;
  readonly title?: string;
}) {
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

/** A defect of one page leaves the navigation usable. */
class Boundary extends Component<{ readonly children: ComponentChildren }, { error?: unknown }> {
  override state: { error?: unknown } = {};
  static override getDerivedStateFromError(error: unknown): { error: unknown } {
    return { error };
  }
  override render() {
    return 'error' in this.state ? <Failed error={this.state.error} /> : this.props.children;
  }
}
