/** Sends the chosen deliveries again, one request each, with progress and a line for each that was refused. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { api, ApiError, ask, type Schema } from '../../api/client.ts';
import { Button } from '../../parts/button.tsx';
import { confirmed, Dialog } from '../../parts/dialog.tsx';
import { formatCount } from '../../parts/format.ts';
import type { Selection } from '../../lists/selection.ts';
import { hrefOf } from '../../url/location.ts';

const words = {
  resendChosen: (count: string) => `Resend selected (${count})`,
  tooMany: (most: string) =>
    `You can resend up to ${most} at a time. To send more, replay by filter under Dead letters.`,
};

export const resendMessage =
  'Sends the same body with the same delivery id. Receivers that deduplicate by id ignore it.';
type Delivery = Schema['Delivery'];

/** More are replayed by a filter, which needs no open page. */
const mostAtOnce = 500;
/** Requests in flight: below the rate limit of a token. */
const inFlight = 4;
const pauseMs = 1_000;

interface ResendProps {
  readonly selection: Selection<Delivery>;
  readonly onDone: () => void;
}

export function ResendSelection({ selection, onDone }: ResendProps) {
  const [sending, setSending] = useState<readonly Delivery[] | undefined>(undefined);
  const count = selection.items.length;
  const start = async (): Promise<void> => {
    const title = words.resendChosen(formatCount(count));
    if (await confirmed({ title, message: resendMessage, action: 'Resend' })) setSending(selection.items);
  };
  return (
    <div class="row" role="group" aria-label="Selected deliveries">
      <Button small onClick={selection.all}>
        Select all shown
      </Button>
      {count > 0 && (
        <>
          <Button small onClick={selection.clear}>
            Clear selection
          </Button>
          <Button small kind="main-action" disabled={count > mostAtOnce} onClick={start}>
            {words.resendChosen(formatCount(count))}
          </Button>
        </>
      )}
      <span class="quiet small" role="status">
        {count > mostAtOnce
          ? words.tooMany(formatCount(mostAtOnce))
          : 'Select rows with the checkboxes or Space. Hold Shift to select a range.'}
      </span>
      {sending && (
        <Progress
          deliveries={sending}
          onClose={() => {
            setSending(undefined);
            onDone();
          }}
        />
      )}
    </div>
  );
}

interface Failure {
  readonly delivery: Delivery;
  readonly message: string;
}

function Progress({
  deliveries,
  onClose,
}: {
  readonly deliveries: readonly Delivery[];
  readonly onClose: () => void;
}) {
  const [done, setDone] = useState(0);
  const [failures, setFailures] = useState<readonly Failure[]>([]);
  const stopped = useRef(false);
  useEffect(() => {
    const rest = [...deliveries];
    const work = async (): Promise<void> => {
      for (let delivery = rest.shift(); delivery && !stopped.current; delivery = rest.shift()) {
        const failed = await resend(delivery, stopped);
        if (failed !== undefined) {
          const failure = { delivery, message: failed };
          setFailures((before) => [...before, failure]);
        }
        setDone((before) => before + 1);
      }
    };
    for (let worker = 0; worker < inFlight; worker += 1) void work();
    return () => {
      stopped.current = true;
    };
  }, []);
  const isDone = done === deliveries.length;
  const sent = formatCount(done - failures.length);
  return (
    <Dialog title={words.resendChosen(formatCount(deliveries.length))} onClose={onClose}>
      <div class="stack">
        <progress class="progress" max={deliveries.length} value={done} aria-label="Resend" />
        <p role="status">
          {isDone
            ? `Resending ${sent}. ${formatCount(failures.length)} could not be resent.`
            : `${formatCount(done)} of ${formatCount(deliveries.length)}`}
        </p>
        {failures.length > 0 && (
          <ul class="stack tight result-lines">
            {failures.map(({ delivery: { deliveryId, event, type, destinationId }, message }) => (
              <li key={deliveryId}>
                <a href={hrefOf(['deliveries', deliveryId])}>{event ?? type}</a> → {destinationId}:{' '}
                <span class="quiet">{message}</span>
              </li>
            ))}
          </ul>
        )}
      </div>
      <div class="actions">
        <Button kind={isDone ? 'main-action' : undefined} onClick={onClose}>
          {isDone ? 'Done' : 'Stop'}
        </Button>
      </div>
    </Dialog>
  );
}

/** Returns why it was refused. Waits where the token has made too many requests. */
async function resend(
  { deliveryId }: Delivery,
  stopped: { readonly current: boolean },
): Promise<string | undefined> {
  for (;;) {
    try {
      await ask(api.POST('/v1/deliveries/{deliveryId}/resend', { params: { path: { deliveryId } } }));
      return undefined;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.status !== 429 || stopped.current) return error.message;
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }
}
