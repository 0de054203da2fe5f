/** The period of the overview: one of a few, or what was chosen in a chart. */
import { PeriodChoice } from '../../parts/period-choice.tsx';

const ranges = Object.entries({
  '15m': '15 min',
  '1h': '1 hour',
  '6h': '6 hours',
  '24h': '24 hours',
  '7d': '7 days',
});
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
    <PeriodChoice name="since" choices={ranges} current={isChosen ? undefined : since}>
      {isChosen && <span aria-current="true">the selected period</span>}
    </PeriodChoice>
  );
}
