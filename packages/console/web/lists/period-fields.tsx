/** A period: a span before now from a menu, or two times that are picked. */
import { ChoiceField, TimeField } from '../parts/field.tsx';
import { isBetweenTimes, toField } from './period.ts';

type Query = Readonly<Record<string, string>>;

const spans = {
  '': 'any time',
  '1h': 'last hour',
  '24h': 'last 24 hours',
  '7d': 'last 7 days',
  '30d': 'last 30 days',
};
/** Of the choice that shows the fields of two times, before they are sent. */
export const chosen = 'between';

export function isBetween(typed: Query): boolean {
  return isBetweenTimes(typed) || (chosen in typed && !typed['since']);
}

interface PeriodProps {
  readonly query: Query;
  readonly typed: Query;
  readonly onTyped: (typed: Query) => void;
  readonly onSpan?: (since: string) => void;
  /** Whether it has a beginning in any case. */
  readonly isBounded?: boolean;
}

export function PeriodFields({ query, typed, onTyped, onSpan, isBounded }: PeriodProps) {
  const { since = '' } = query;
  const isShown = isBetween(typed);
  const isOther = !isBetweenTimes(query) && !Object.hasOwn(spans, since);
  return (
    <>
      <ChoiceField
        label="Period"
        value={isShown ? chosen : since}
        choices={[
          ...Object.entries(spans).filter(([span]) => span !== '' || !isBounded),
          ...(isOther ? [[since, `last ${since}`] as const] : []),
          [chosen, 'between two times'],
        ]}
        onValue={(value) => {
          const { [chosen]: _shown, since: _since, until: _until, ...others } = typed;
          onTyped(value === chosen ? { ...others, [chosen]: '' } : { ...others, since: value });
          if (value !== chosen) onSpan?.(value);
        }}
      />
      {isShown &&
        (['since', 'until'] as const).map((name) => (
          <TimeField
            key={name}
            label={name === 'since' ? 'Since' : 'Until'}
            value={toField(typed[name] ?? '')}
            onValue={(value) => onTyped({ ...typed, [name]: value })}
          />
        ))}
    </>
  );
}
