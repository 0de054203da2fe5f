/** The state of an issue: the failures of a destination with one reason. Pure. */

/** Those that need somebody first. */
export const issueStates = ['open', 'acknowledged', 'dismissed'] as const;
export type IssueState = (typeof issueStates)[number];

/** What somebody has said about an issue. Times are ISO 8601, UTC with milliseconds. */
export interface IssueMark {
  readonly state: Exclude<IssueState, 'open'>;
  readonly note?: string | undefined;
  readonly at: string;
  /** The name of the token. */
  readonly by: string;
  /** The latest failure that was known then, by the clock of delivery, as later ones are. */
  readonly lastFailureAt: string;
}

/** A failure after a dismissal opens the issue again. */
export function issueState(lastFailureAt: number, mark: IssueMark | undefined): IssueState {
  if (mark?.state === 'dismissed' && lastFailureAt > Date.parse(mark.lastFailureAt)) return 'open';
  return mark?.state ?? 'open';
}
