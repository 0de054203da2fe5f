/** The period of a page's numbers, which is in its address. */
import type { ComponentChildren } from 'preact';
import { hrefOf, place } from '../url/location.ts';

interface PeriodProps {
  /** Its name in the query. */
  readonly name: string;
  readonly choices: readonly (readonly [value: string, label: string])[];
  /** Undefined for another one than these. */
  readonly current: string | undefined;
  readonly children?: ComponentChildren;
}

export function PeriodChoice({ name, choices, current, children }: PeriodProps) {
  const { steps, query } = place.value;
  return (
    <nav class="segments" aria-label="Period">
      {choices.map(([value, label]) => (
        <a
          key={value}
          href={hrefOf(steps, { ...query, until: undefined, [name]: value })}
          aria-current={value === current ? 'true' : undefined}
        >
          {label}
        </a>
      ))}
      {children}
    </nav>
  );
}
