/** Of a destination with `disableAfter` whose attempts only fail: when it is disabled. */
import type { Schema } from '../../api/client.ts';
import { Card } from '../../parts/card.tsx';
import { Reason } from '../../parts/status.tsx';
import { Due, Time } from '../../parts/time.tsx';

type Outage = Schema['DestinationOutage'];

/** `2026-11-22 14:03:07 (timeout).` */
export function Since({ outage: { since, reason } }: { readonly outage: Outage }) {
  return (
    <>
      <Time at={since} />
      {reason !== undefined && (
        <>
          {' '}
          (<Reason of={reason} />)
        </>
      )}
      .
    </>
  );
}

export function OutageCard({ outage }: { readonly outage: Outage | undefined }) {
  if (outage?.state !== 'warned' || outage.disablesAt === undefined) return null;
  return (
    <Card title="This destination will be disabled">
      <p>
        All attempts have failed since <Since outage={outage} /> It is disabled <Due at={outage.disablesAt} />{' '}
        unless one succeeds.
      </p>
    </Card>
  );
}
