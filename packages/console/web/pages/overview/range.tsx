/** The period of the overview: one of a few, or what was chosen in a chart. It is in the address. */
import { hrefOf } from '../../url/location.ts';

const words = {
  ranges: { '15m': '15 min', '1h': '1 hour', '6h': '6 hours', '24h': '24 hours', '7d': '7 days' },
};

const ranges = Object.entries(words.ranges);
const usual = '1h';

export interface Range {
  readonly since: string;
  readonly until?: string;
}

export function rangeOf({ since, until }: Readonly<Record<string, string>>): Range {
  return { since: since ?? usual, ...(until !== undefined && { until }) };
}

export function RangeChoice({ query }: { readonly query: Readonly<Record<string, string>> }) {
  const { since, until } = rangeOf(query);
  const isChosen = until !== undefined;
  return (
    <nav class="segments" aria-label="Period">
      {ranges.map(([value, label]) => (
        <a
          key={value}
          href={hrefOf([], { since: value })}
          aria-current={!isChosen && value === since ? 'true' : undefined}
        >
          {label}
        </a>
      ))}
      {isChosen && <span aria-current="true">the selected period</span>}
    </nav>
  );
}
