/** The time range of a destination's numbers, in the address: `?range=24h`. */
import { Choices } from '../../../parts/button.tsx';
import { text } from '../../../text/index.ts';
import { setQuery } from '../../../url/location.ts';

const words = text.destinations;
type Range = keyof typeof words.ranges;
const ranges = Object.entries(words.ranges) as [Range, string][];

/** A duration that the API reads as `since`. */
export function rangeOf(wanted: string | undefined): Range {
  return ranges.find(([range]) => range === wanted)?.[0] ?? '24h';
}

export function RangeChoice({ current }: { readonly current: Range }) {
  const choose = (range: Range): void => {
    setQuery({ range });
  };
  return <Choices label={words.range} choices={ranges} current={current} onChoose={choose} />;
}
