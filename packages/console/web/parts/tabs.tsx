/** Links to the parts of a page. The chosen one is in the address: `?tab=settings`. */
import { hrefOf } from '../url/location.ts';

interface TabsProps<Name extends string> {
  readonly label: string;
  readonly steps: readonly string[];
  /** Names with their titles; the first is shown without `?tab=`. */
  readonly tabs: readonly (readonly [name: Name, title: string])[];
  readonly current: Name;
}

export function Tabs<Name extends string>({ label, steps, tabs, current }: TabsProps<Name>) {
  return (
    <nav class="tabs" aria-label={label}>
      {tabs.map(([name, title], index) => (
        <a
          key={name}
          href={hrefOf(steps, { tab: index === 0 ? undefined : name })}
          aria-current={name === current ? 'page' : undefined}
        >
          {title}
        </a>
      ))}
    </nav>
  );
}

/** The tab that an address names; the first where it names none of them. */
export function tabOf<Name extends string>(
  tabs: readonly (readonly [name: Name, title: string])[],
  wanted: string | undefined,
  first: Name,
): Name {
  return tabs.find(([name]) => name === wanted)?.[0] ?? first;
}
