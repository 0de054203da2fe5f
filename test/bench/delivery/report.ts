/** The report of a scenario: its tables, its goals, and the account of every delivery. */
import type { Format } from '../figures/table.ts';
import { describeAccount, isSound, type Account } from './account.ts';

export interface Report {
  readonly title: string;
  readonly tables: readonly string[];
  readonly goals: readonly Goal[];
  readonly accounts: readonly Account[];
  /** All figures, for --json. */
  readonly figures: unknown;
}

export interface Goal {
  readonly what: string;
  readonly is: string;
  readonly should: string;
  readonly met: boolean;
}

export function describeGoal(
  what: string,
  value: number,
  relation: '≤' | '≥',
  limit: number,
  format: Format,
): Goal {
  const met = relation === '≤' ? value <= limit : value >= limit;
  return { what, is: format(value), should: `${relation} ${format(limit)}`, met };
}

export function renderReport({ title, tables, goals, accounts }: Report): string {
  return [
    `== ${title}`,
    ...tables,
    ...(goals.length > 0
      ? [
          goals
            .map(
              ({ what, is, should, met }) => `${met ? 'met   ' : 'MISSED'}  ${what}: ${is} (goal ${should})`,
            )
            .join('\n'),
        ]
      : []),
    accounts.map(describeAccount).join('\n'),
  ].join('\n\n');
}

export function isReportSound({ accounts }: Report): boolean {
  return accounts.every(isSound);
}
