/**
 * Writes dead letters and their replays. The two topics are read in parallel, so a replay may be read before its dead letter.
 * A dead letter and its replay have the same delivery id; another id shows that the topic was deleted and created again.
 */
import type { DatabaseSync } from 'node:sqlite';
import type { DeadLetterSummary } from '@tailrace/deadletters';
import { bounded } from '@tailrace/records';
import type { LetterReplay } from '../../facts/facts.ts';
import { storedTexts } from './rows.ts';

export function createDeadLetterWriter(db: DatabaseSync) {
  const find = db.prepare('SELECT delivery_id FROM dead_letters WHERE partition = ? AND "offset" = ?');
  const remove = db.prepare('DELETE FROM dead_letters WHERE partition = ? AND "offset" = ?');
  const insert = db.prepare(`
    INSERT INTO dead_letters (partition, "offset", died_at, delivery_id, event_id, source_id, destination_id,
      type, event, user_key, reason, attempts, replayed)
    VALUES (:partition, :offset, :diedAt, :deliveryId, :eventId, :sourceId, :destinationId, :type, :event, :userKey, :reason,
      :attempts, :replayed)`);
  const markReplayed = db.prepare(
    'UPDATE dead_letters SET replayed = 1 WHERE partition = ? AND "offset" = ? AND delivery_id = ? AND replayed = 0',
  );
  const findEarly = db.prepare('SELECT delivery_id FROM early_replays WHERE partition = ? AND "offset" = ?');
  const removeEarly = db.prepare('DELETE FROM early_replays WHERE partition = ? AND "offset" = ?');
  const putEarly = db.prepare('INSERT OR REPLACE INTO early_replays VALUES (?, ?, ?)');

  return {
    putLetter(letter: DeadLetterSummary): void {
      const { partition, offset, diedAt, attempts } = letter;
      const texts = storedTexts(letter);
      if (find.get(partition, offset)) remove.run(partition, offset);
      const early = findEarly.get(partition, offset);
      if (early) removeEarly.run(partition, offset);
      const replayed = early?.['delivery_id'] === texts.deliveryId ? 1 : 0;
      insert.run({ partition, offset, diedAt, attempts, replayed, ...texts });
    },
    putReplay({ partition, offset, deliveryId }: LetterReplay): void {
      if (find.get(partition, offset)) markReplayed.run(partition, offset, bounded(deliveryId));
      else putEarly.run(partition, offset, bounded(deliveryId));
    },
  };
}
