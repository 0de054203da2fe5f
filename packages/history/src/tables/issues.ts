/** What fails: the failures of each destination and reason that the history knows. */
import type { DatabaseSync } from 'node:sqlite';
import { plain } from '../sqlite/row.ts';

export interface IssueRow {
  readonly destinationId: string;
  readonly reason: string;
  /** Failed attempts. */
  readonly attempts: number;
  /** Deliveries that are dead, including those without an attempt, and without those that were sent again. */
  readonly dead: number;
  /** Milliseconds since the epoch; of a death without an attempt the beginning of its minute. */
  readonly firstAt: number;
  readonly lastAt: number;
}

/** Dead letters of a destination among which one is looked for. */
const lettersSearched = 2_000;

export function issueQueries(db: DatabaseSync) {
  const list = (condition: string) =>
    db.prepare(`
      SELECT destination_id AS destinationId, reason, attempts, dead, first_at AS firstAt, last_at AS lastAt
      FROM issues WHERE (attempts > 0 OR dead > 0) ${condition}`);
  const [all, some] = [list(''), list('AND destination_id IN (SELECT value FROM json_each(?))')];
  const attempted = db.prepare(`
    SELECT deliveries.id FROM attempts INDEXED BY failures JOIN deliveries ON deliveries.row = attempts.delivery
    WHERE attempts.destination_id = ? AND attempts.reason = ? ORDER BY started_at DESC LIMIT 1`);
  const dead = db.prepare(`
    SELECT delivery_id AS id FROM
      (SELECT delivery_id, reason, died_at FROM dead_letters INDEXED BY dead_letters_by_destination
       WHERE destination_id = ? ORDER BY died_at DESC LIMIT ${lettersSearched})
    WHERE reason = ? AND delivery_id IS NOT NULL ORDER BY died_at DESC LIMIT 1`);
  return {
    /** Of these destinations, or of all; at most one for each destination and reason. */
    issues: (destinationIds?: readonly string[]): readonly IssueRow[] =>
      (destinationIds ? some.all(JSON.stringify(destinationIds)) : all.all()).map(plain<IssueRow>),
    /** The id of the latest delivery that failed so. */
    exampleOf({ destinationId, reason }: Pick<IssueRow, 'destinationId' | 'reason'>): string | undefined {
      const found = attempted.get(destinationId, reason) ?? dead.get(destinationId, reason);
      return found && String(found['id']);
    },
  };
}
