/** Acknowledges or dismisses an issue, with a note. */
import { api, ask, type Schema } from '../../api/client.ts';
import { FormDialog, useForm } from '../../parts/entry-form.tsx';
import { TextField } from '../../parts/field.tsx';
import { toast } from '../../parts/notes.tsx';
import { Reason } from '../../parts/status.tsx';

const words = {
  acknowledged: {
    action: 'Acknowledge',
    done: 'Acknowledged.',
    hint: 'Tells others that someone is working on it. It stays acknowledged while it fails.',
  },
  dismissed: {
    action: 'Dismiss',
    done: 'Dismissed.',
    hint: 'It reopens when it fails again.',
  },
};

export interface Asked {
  readonly issue: Schema['Issue'];
  readonly state: keyof typeof words;
}

interface MarkProps extends Asked {
  readonly onClose: () => void;
  readonly onDone: () => void;
}

export function MarkDialog({ issue, state, onClose, onDone }: MarkProps) {
  const { destinationId: id, reason, mark } = issue;
  const { action, done, hint } = words[state];
  const { field, form } = useForm({ note: mark?.note ?? '' }, async (draft) => {
    const note = draft.note.trim();
    const body = { state, ...(note !== '' && { note }) };
    await ask(api.PUT('/v1/destinations/{id}/issues/{reason}', { params: { path: { id, reason } }, body }));
    toast(done);
    onDone();
  });
  return (
    <FormDialog {...form} title={`${action} an issue of ${id}`} onClose={onClose} action={action}>
      <p>
        <Reason of={reason} />
      </p>
      <TextField label="Note" hint={hint} lines={3} {...field('note')} />
    </FormDialog>
  );
}
