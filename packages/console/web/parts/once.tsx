/** Shows a secret that cannot be read again: a write key, a token, the secret of a destination. */
import { Button } from './button.tsx';
import { Code, CopyButton } from './code.tsx';
import { Dialog } from './dialog.tsx';

interface OnceProps {
  readonly title: string;
  readonly lead: string;
  readonly secret: string;
  readonly onClose: () => void;
}

export function Once({ title, lead, secret, onClose }: OnceProps) {
  return (
    <Dialog title={title} onClose={onClose}>
      <div class="stack tight">
        <p>{lead}</p>
        <Code label={title}>{secret}</Code>
      </div>
      <div class="actions">
        <CopyButton of={secret} isLarge />
        <Button kind="main-action" onClick={onClose}>
          Done
        </Button>
      </div>
    </Dialog>
  );
}
