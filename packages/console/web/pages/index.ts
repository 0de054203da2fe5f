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

const { pages: titles } = text.shell;

export const pages: readonly PageEntry[] = [
  {
    name: '',
    title: titles.overview,
    group: 'flow',
    scope: 'read',
    forLimited: true,
    load: () => import('./overview/index.tsx'),
  },
  {
    name: 'deliveries',
    title: titles.deliveries,
    group: 'flow',
    scope: 'read',
    forLimited: true,
    load: () => import('./deliveries/index.tsx'),
  },
  {
    name: 'filtered',
    title: titles.filtered,
    group: 'flow',
    scope: 'read',
    forLimited: true,
    load: () => import('./filtered/index.tsx'),
  },
  {
    name: 'why',
    title: titles.why,
    group: 'flow',
    scope: 'read',
    forLimited: true,
    load: () => import('./why/index.tsx'),
  },
  {
    name: 'replays',
    title: titles.replays,
    group: 'flow',
    scope: 'read',
    forLimited: false,
    load: () => import('./replays/index.tsx'),
  },
  {
    name: 'sources',
    title: titles.sources,
    group: 'setup',
    scope: 'read',
    forLimited: true,
    load: () => import('./sources/index.tsx'),
  },
  {
    name: 'destinations',
    title: titles.destinations,
    group: 'setup',
    scope: 'read',
    forLimited: true,
    load: () => import('./destinations/index.tsx'),
  },
  {
    name: 'audiences',
    title: titles.audiences,
    group: 'people',
    scope: 'read',
    forLimited: true,
    load: () => import('./audiences/index.tsx'),
  },
  {
    name: 'deletions',
    title: titles.deletions,
    group: 'people',
    scope: 'read',
    forLimited: false,
    load: () => import('./deletions/index.tsx'),
  },
  {
    name: 'suppressions',
    title: titles.suppressions,
    group: 'people',
    scope: 'read',
    forLimited: false,
    load: () => import('./suppressions/index.tsx'),
  },
  {
    name: 'tokens',
    title: titles.tokens,
    group: 'access',
    scope: 'admin',
    forLimited: false,
    load: () => import('./tokens/index.tsx'),
  },
  {
    name: 'audit',
    title: titles.audit,
    group: 'access',
    scope: 'admin',
    forLimited: false,
    load: () => import('./audit/index.tsx'),
  },
];

export function pageOf(name: string): PageEntry | undefined {
  return pages.find((page) => page.name === name);
}
