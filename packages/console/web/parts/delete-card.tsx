/** The last part of the settings of an entry: its removal, after a question. */
import { goFrom, place } from '../url/location.ts';
import { Button } from './button.tsx';
import { Card } from './card.tsx';
import { confirmed } from './dialog.tsx';
import { attempt } from './notes.tsx';

interface DeleteCardProps {
  readonly id: string;
  readonly words: {
    readonly delete: string;
    readonly deleteTitle: (id: string) => string;
    readonly deleteMessage: string;
    readonly deleted: string;
  };
  readonly onDelete: () => Promise<unknown>;
  /** The page of the list, which follows. */
  readonly list: string;
}

export function DeleteCard({ id, words, onDelete, list }: DeleteCardProps) {
  const remove = async (): Promise<void> => {
    const asked = { title: words.deleteTitle(id), message: <p>{words.deleteMessage}</p> };
    if (!(await confirmed({ ...asked, action: words.delete, danger: true }))) return;
    const begin = place.peek();
    const isDone = await attempt(async () => {
      await onDelete();
      return true;
    }, words.deleted);
    if (isDone) goFrom(begin, [list]);
  };
  return (
    <Card title={words.delete}>
      <div class="row spread">
        <p class="quiet">{words.deleteMessage}</p>
        <Button kind="danger" onClick={remove}>
          {words.delete}
        </Button>
      </div>
    </Card>
  );
}
