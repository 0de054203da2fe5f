/** Of a destination with `disableAfter` whose attempts only fail: when it is disabled, and what it missed when it is enabled again. */
import type { Schema } from '../../api/client.ts';
import { may } from '../../api/session.ts';
import { LinkButton } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { Reason } from '../../parts/status.tsx';
import { Due, Time } from '../../parts/time.tsx';
import { hrefOf } from '../../url/location.ts';

type Outage = Schema['DestinationOutage'];

interface Props {
  readonly id: string;
  readonly outage: Outage | undefined;
  /** Set when it was enabled again. */
  readonly missedFrom: string | undefined;
}

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

export function OutageCards({ id, outage, missedFrom }: Props) {
  return (
    <>
      {outage?.state === 'warned' && outage.disablesAt !== undefined && (
        <Card title="This destination will be disabled">
          <p>
            All attempts have failed since <Since outage={outage} /> It is disabled{' '}
            <Due at={outage.disablesAt} /> unless one succeeds.
          </p>
        </Card>
      )}
      {missedFrom !== undefined && may('write') && (
        <Card title="Send what it missed?">
          <div class="row spread">
            <p class="quiet">
              Events that arrived while it failed or was disabled were not delivered. You can send them now.
            </p>
            <LinkButton href={hrefOf(['replays', '+events'], { destination: id, since: missedFrom })}>
              Send missed events
            </LinkButton>
          </div>
        </Card>
      )}
    </>
  );
}
