/** The time range of a destination's numbers, in the address: `?range=24h`. */
import { PeriodChoice } from '../../../parts/period-choice.tsx';

const titles = { '1h': '1 hour', '6h': '6 hours', '24h': '24 hours', '168h': '7 days' };
type Range = keyof typeof titles;
const ranges = Object.entries(titles) as [Range, string][];

/** A duration that the API reads as `since`. The usual one is that of the health beside it. */
export function rangeOf(wanted: string | undefined): Range {
  return ranges.find(([range]) => range === wanted)?.[0] ?? '1h';
}

export function RangeChoice({ current }: { readonly current: Range }) {
  return <PeriodChoice name="range" choices={ranges} current={current} />;
}
