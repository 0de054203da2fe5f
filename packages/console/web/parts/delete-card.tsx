/** The last part of the settings of an entry: its removal, after a question. */
import { goFrom, place } from '../url/location.ts';
import { Button } from './button.tsx';
import { Card } from './card.tsx';
import { confirmed } from './dialog.tsx';
import { attempt } from './notes.tsx';

interface DeleteCardProps {
  readonly kind: 'source' | 'destination' | 'notification';
  readonly id: string;
  /** What its removal means. */
  readonly message: string;
  readonly onDelete: () => Promise<unknown>;
}

export function DeleteCard({ kind, id, message, onDelete }: DeleteCardProps) {
  const title = `Delete ${kind}`;
  const remove = async (): Promise<void> => {
    const asked = { title: `Delete the ${kind} ${id}?`, message, action: title, danger: true };
    if (!(await confirmed(asked))) return;
    const begin = place.peek();
    const isDone = await attempt(
      async () => {
        await onDelete();
        return true;
      },
      `${kind.charAt(0).toUpperCase()}${kind.slice(1)} deleted.`,
    );
    // The list follows.
    if (isDone) goFrom(begin, [`${kind}s`]);
  };
  return (
    <Card title={title}>
      <div class="row spread">
        <p class="quiet">{message}</p>
        <Button kind="danger" onClick={remove}>
          {title}
        </Button>
      </div>
    </Card>
  );
}
