/** The time range of a destination's numbers, in the address: `?range=24h`. */
import { Choices } from '../../../parts/button.tsx';
import { setQuery } from '../../../url/location.ts';

const titles = { '1h': 'Last hour', '6h': 'Last 6 hours', '24h': 'Last 24 hours', '168h': 'Last 7 days' };
type Range = keyof typeof titles;
const ranges = Object.entries(titles) as [Range, string][];

/** A duration that the API reads as `since`. */
export function rangeOf(wanted: string | undefined): Range {
  return ranges.find(([range]) => range === wanted)?.[0] ?? '24h';
}

export function RangeChoice({ current }: { readonly current: Range }) {
  const choose = (range: Range): void => setQuery({ range });
  return <Choices label="Period" choices={ranges} current={current} onChoose={choose} />;
}
