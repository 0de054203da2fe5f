/** The page that the address names: loads it, and shows what is wrong where it fails. */
import { Component, type ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { pageOf, type PageEntry } from '../pages/index.ts';
import { PageHead, titleOf } from '../parts/card.tsx';
import { place, type PageProps } from '../url/location.ts';
import { Failed, Outdated } from './failed.tsx';
import { useLoaded } from './loaded.ts';

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
  const { module, error } = useLoaded(page.load);
  if (error !== undefined) return <Outdated error={error} />;
  return module ? <module.default {...props} /> : <Loading title={page.title} />;
}

function Loading({ title }: { readonly title: string }) {
  useLayoutEffect(() => {
    document.title = titleOf(title);
  }, [title]);
  return <div class="skeleton page-skeleton" aria-busy="true" />;
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
