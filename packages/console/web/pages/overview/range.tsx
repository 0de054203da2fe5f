/** The period of the overview: one of a few, or what was chosen in a chart. It is in the address. */
import { text } from '../../text/index.ts';
import { hrefOf } from '../../url/location.ts';

const ranges = Object.entries(text.overview.ranges);
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
    <nav class="segments" aria-label={text.overview.range}>
      {ranges.map(([value, label]) => (
        <a
          key={value}
          href={hrefOf([], { since: value })}
          aria-current={!isChosen && value === since ? 'true' : undefined}
        >
          {label}
        </a>
      ))}
      {isChosen && <span aria-current="true">{text.overview.chosen}</span>}
    </nav>
  );
}
