import { signal } from '@preact/signals';
import { isLimited, may } from '../api/session.ts';
import { pages, type PageEntry } from '../pages/index.ts';
import { text } from '../text/index.ts';
import { hrefOf, place } from '../url/location.ts';

/** Whether the navigation is open on a narrow page. */
export const isMenuOpen = signal(false);

/** The pages that the token may see. */
export function visiblePages(): readonly PageEntry[] {
  return pages.filter(({ scope, forLimited }) => may(scope) && (forLimited || !isLimited.value));
}

export function Navigation() {
  const [current = ''] = place.value.steps;
  const groups = Object.entries(text.shell.groups);
  return (
    <nav
      class={isMenuOpen.value ? 'side open' : 'side'}
      aria-label="Menu"
      onClick={() => {
        isMenuOpen.value = false;
      }}
    >
      <button type="button" class="skip" onClick={() => document.getElementById('content')?.focus()}>
        Skip to content
      </button>
      <a class="brand" href={hrefOf([])}>
        <Mark />
        Tailrace
      </a>
      {groups.map(([group, title]) => {
        const entries = visiblePages().filter((page) => page.group === group);
        if (entries.length === 0) return null;
        return (
          <div key={group}>
            <h2>{title}</h2>
            <ul>
              {entries.map((page) => (
                <li key={page.name}>
                  <a
                    class="entry"
                    href={hrefOf(page.name === '' ? [] : [page.name])}
                    aria-current={page.name === current ? 'page' : undefined}
                  >
                    {page.title}
                  </a>
                </li>
              ))}
            </ul>
          </div>
        );
      })}
    </nav>
  );
}

function Mark() {
  return (
    <svg
      viewBox="0 0 32 32"
      aria-hidden="true"
      fill="none"
      stroke="currentColor"
      stroke-width="3"
      stroke-linecap="round"
    >
      <path d="M4 10c5 0 5 5 10 5s5-5 10-5 5 5 5 5M4 20c5 0 5 5 10 5s5-5 10-5 5 5 5 5" />
    </svg>
  );
}
