/** All pages: their place in the address and in the navigation. Each is loaded when it is first shown. */
import type { FunctionComponent } from 'preact';
import type { Scope } from '../api/session.ts';
import { text } from '../text/index.ts';
import type { PageProps } from '../url/location.ts';

export interface PageEntry {
  /** The first step of its address; empty for the overview. */
  readonly name: string;
  readonly title: string;
  readonly group: keyof typeof text.shell.groups;
  /** The least scope that sees it. */
  readonly scope: Scope;
  /** Whether a token that is limited to some sources or destinations sees it. */
  readonly forLimited: boolean;
  readonly load: () => Promise<{ readonly default: FunctionComponent<PageProps> }>;
}

type Access = 'everybody' | 'unlimited' | 'admins';

function page(
  title: keyof typeof text.shell.pages,
  group: PageEntry['group'],
  access: Access,
  load: PageEntry['load'],
): PageEntry {
  return {
    name: title === 'overview' ? '' : title,
    title: text.shell.pages[title],
    group,
    scope: access === 'admins' ? 'admin' : 'read',
    forLimited: access === 'everybody',
    load,
  };
}

export const pages: readonly PageEntry[] = [
  page('overview', 'flow', 'everybody', () => import('./overview/index.tsx')),
  page('deliveries', 'flow', 'everybody', () => import('./deliveries/index.tsx')),
  page('filtered', 'flow', 'everybody', () => import('./filtered/index.tsx')),
  page('why', 'flow', 'everybody', () => import('./why/index.tsx')),
  page('issues', 'flow', 'everybody', () => import('./issues/index.tsx')),
  page('replays', 'flow', 'unlimited', () => import('./replays/index.tsx')),
  page('sources', 'setup', 'everybody', () => import('./sources/index.tsx')),
  page('destinations', 'setup', 'everybody', () => import('./destinations/index.tsx')),
  page('notifications', 'setup', 'unlimited', () => import('./notifications/index.tsx')),
  page('users', 'people', 'everybody', () => import('./users/index.tsx')),
  page('audiences', 'people', 'everybody', () => import('./audiences/index.tsx')),
  page('deletions', 'people', 'unlimited', () => import('./deletions/index.tsx')),
  page('suppressions', 'people', 'unlimited', () => import('./suppressions/index.tsx')),
  page('tokens', 'access', 'admins', () => import('./tokens/index.tsx')),
  page('audit', 'access', 'admins', () => import('./audit/index.tsx')),
];

export function pageOf(name: string): PageEntry | undefined {
  return pages.find((page) => page.name === name);
}
