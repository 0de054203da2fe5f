/** Starts a replay: first it is counted how many dead letters it would send again. */
import { useState } from 'preact/hooks';
import { api, ask } from '../../api/client.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { TextField } from '../../parts/field.tsx';
import { formatCounted } from '../../parts/format.ts';
import { attempt, ErrorNote } from '../../parts/notes.tsx';
import { Reason } from '../../parts/status.tsx';
import { useDryRun } from './dry-run.ts';

interface DialogProps {
  readonly destination: string;
  readonly reason: string;
  readonly onClose: () => void;
}

const usualRate = '50';

export function ReplayDialog({ destination, reason, onClose }: DialogProps) {
  const [rate, setRate] = useState(usualRate);
  const order = { destination, ...(reason !== '' && { reason }) };
  const { count, error } = useDryRun(order);
  const due = count?.due ?? 0;
  const start = async (): Promise<void> => {
    const body = { ...order, ratePerSecond: Number(rate) };
    if (await attempt(() => ask(api.POST('/v1/replays', { body })), 'Replay started.')) onClose();
  };
  return (
    <Dialog title={`Replay dead letters of ${destination}`} onClose={onClose}>
      <div class="stack">
        <p>
          <Reason of={reason} />
        </p>
        <p role="status">
          <strong>
            {count === undefined
              ? error
                ? ''
                : 'Counting …'
              : due === 0
                ? 'Nothing to replay. All matching dead letters have been replayed.'
                : `${formatCounted(due, 'dead letter')} will be sent again.`}
          </strong>
        </p>
        <ErrorNote error={error} />
        <TextField
          label="Max per second"
          hint="Limits the load on the receiver."
          value={rate}
          onValue={setRate}
        />
      </div>
      <div class="actions">
        <Button onClick={onClose}>Cancel</Button>
        <Button kind="main-action" disabled={due === 0} onClick={start}>
          Start replay
        </Button>
      </div>
    </Dialog>
  );
}
