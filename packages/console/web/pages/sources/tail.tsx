/** The attempts of a source's deliveries as they are made. It waits for the first one. */
import { useEffect, useState } from 'preact/hooks';
import { readLines, type LiveAttempt } from '../../api/lines.ts';
import { ApiError, generation } from '../../api/client.ts';
import { Button } from '../../parts/button.tsx';
import { Card, Empty } from '../../parts/card.tsx';
import { formatCount, formatDuration } from '../../parts/format.ts';
import { ErrorNote } from '../../parts/notes.tsx';
import { Reason, Status } from '../../parts/status.tsx';
import { Time } from '../../parts/time.tsx';
import { hrefOf } from '../../url/location.ts';

const maxShown = 100;
const againMs = 2_000;

type Line = LiveAttempt | { readonly missed: number };

export function Tail({ source }: { readonly source: string }) {
  const [isOn, setOn] = useState(true);
  const [attempts, setAttempts] = useState<readonly LiveAttempt[]>([]);
  const [missed, setMissed] = useState(0);
  const [error, setError] = useState<ApiError>();
  const epoch = generation.value;

  useEffect(() => {
    if (!isOn) return undefined;
    const own = new AbortController();
    const follow = async (): Promise<void> => {
      while (!own.signal.aborted) {
        try {
          const query = new URLSearchParams({ source }).toString();
          await readLines(`/v1/attempts/stream?${query}`, own.signal, (line) => {
            const read = line as Line;
            if ('missed' in read) setMissed((before) => before + read.missed);
            else setAttempts((before) => [read, ...before].slice(0, maxShown));
          });
        } catch (reason) {
          if (reason instanceof ApiError) {
            setError(reason);
            return;
          }
        }
        // A proxy may end a long answer.
        await new Promise((resolve) => setTimeout(resolve, againMs));
      }
    };
    setError(undefined);
    void follow();
    return () => {
      own.abort();
    };
  }, [source, isOn, epoch]);

  return (
    <Card
      flush
      title="Live"
      actions={
        <Button
          small
          onClick={() => {
            setOn(!isOn);
          }}
        >
          {isOn ? 'Stop' : 'Watch'}
        </Button>
      }
    >
      <ErrorNote error={error} />
      <div class="tail" role="log" aria-label="Live" tabIndex={0}>
        {attempts.length === 0 ? (
          <Empty
            title="Waiting for the first event …"
            lead="Delivery attempts appear here as they are made. Events without a destination do not appear."
          />
        ) : (
          <ol>
            {attempts.map((attempt) => (
              <Row key={`${attempt.deliveryId} ${attempt.attempt}`} {...attempt} />
            ))}
          </ol>
        )}
        {missed > 0 && (
          <p class="quiet small">
            {formatCount(missed)} attempts were skipped because the page could not keep up.
          </p>
        )}
      </div>
    </Card>
  );
}

function Row({ deliveryId, destinationId, type, event, startedAt, latencyMs, outcome, reason }: LiveAttempt) {
  return (
    <li>
      <Time at={startedAt} />
      <Status of={outcome} />
      <span class="breakable">
        <a href={hrefOf(['deliveries', deliveryId])}>{event ?? type}</a> → {destinationId}{' '}
        <Reason of={reason} />
      </span>
      <span class="numeric quiet">{formatDuration(latencyMs)}</span>
    </li>
  );
}
