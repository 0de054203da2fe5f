/** The last part of the settings of an entry: its removal, after a question. */
import { isLimited } from '../api/session.ts';
import { Button } from '../parts/button.tsx';
import { Card } from '../parts/card.tsx';
import { confirmed } from '../parts/dialog.tsx';
import { attempt } from '../parts/notes.tsx';
import { go, goFrom, place } from '../url/location.ts';
import type { Requests } from './change.ts';
import { secretMask } from './requests.ts';

const words = {
  lost: 'This cannot be undone, because the API does not show its secrets. To keep them, disable it instead.',
};

interface DeleteCardProps<Data> {
  readonly of: {
    readonly kind: 'source' | 'destination' | 'notification';
    readonly requests: Pick<Requests<Data>, 'load' | 'create' | 'remove'>;
  };
  readonly id: string;
  /** What its removal means. */
  readonly message: string;
}

export function DeleteCard<Data>({ of: { kind, requests }, id, message }: DeleteCardProps<Data>) {
  const title = `Delete ${kind}`;
  const Kind = `${kind.charAt(0).toUpperCase()}${kind.slice(1)}`;
  const remove = async (): Promise<void> => {
    // The form may show an older version.
    const current = await attempt(() => requests.load(id));
    if (!current) return;
    const hasSecret = JSON.stringify(current.data).includes(secretMask);
    const restore = async (): Promise<void> => {
      if (await attempt(() => requests.create(current.data), `${Kind} restored.`)) go([`${kind}s`, id]);
    };
    const asked = {
      title: `Delete the ${kind} ${id}?`,
      message: hasSecret ? `${message} ${words.lost}` : message,
      action: title,
      danger: true,
    };
    if (!(await confirmed(asked))) return;
    const begin = place.peek();
    const isDone = await attempt(
      async () => {
        await requests.remove(id);
        return true;
      },
      `${Kind} deleted.`,
      // A limited token creates no entries.
      hasSecret || isLimited.peek() ? undefined : restore,
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
