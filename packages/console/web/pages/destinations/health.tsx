/** The numbers beside the state of a destination. */
import type { Schema } from '../../api/client.ts';
import { formatCount, formatShare, isBadRate } from '../../parts/format.ts';
import { Ago } from '../../parts/time.tsx';

type Health = Schema['DestinationHealth'];

export function SuccessRate({ of }: { readonly of: Health | undefined }) {
  if (!of) return null;
  const { delivered, attempts } = of;
  const isBad = isBadRate(delivered, attempts);
  return <span class={isBad ? 'numeric rate bad' : 'numeric'}>{formatShare(delivered, attempts)}</span>;
}

export function LastSuccess({ of }: { readonly of: Health | undefined }) {
  return of && (of.lastSuccessAt === undefined ? '–' : <Ago at={of.lastSuccessAt} />);
}

/** `99.2 % delivered in the last hour · last success 3 s ago · 12 pending`. */
export function HealthLine({ of }: { readonly of: Health | undefined }) {
  if (!of) return <span class="health-line" />;
  return (
    <span class="health-line quiet small">
      {of.attempts > 0 && (
        <>
          <SuccessRate of={of} /> delivered in the last hour ·{' '}
        </>
      )}
      {of.lastSuccessAt !== undefined && (
        <>
          last success <LastSuccess of={of} /> ·{' '}
        </>
      )}
      {formatCount(of.pending)} pending
    </span>
  );
}
