/** What a destination was not sent before it was connected or enabled, and can be sent now. */
import { useGet } from '../../api/resource.ts';
import { may } from '../../api/session.ts';
import { LinkButton } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { isolated } from '../../text/isolated.ts';
import { hrefOf } from '../../url/location.ts';

export interface Offer {
  /** The sources that were connected now, or all of a destination that was enabled now. */
  readonly sources: readonly string[];
  /** Set where `disableAfter` had disabled it. */
  readonly missedFrom?: string | undefined;
}

const words = {
  missed: 'Events that arrived while it failed or was disabled were not delivered. You can send them now.',
  before: 'It receives new events from now on. You can also send it what came before.',
};

export function OfferCard({ id, offer }: { readonly id: string; readonly offer: Offer | undefined }) {
  const { sources = [], missedFrom } = offer ?? {};
  if ((sources.length === 0 && missedFrom === undefined) || !may('write')) return null;
  const source = sources.length === 1 ? sources[0] : undefined;
  const since = missedFrom ?? '7d';
  return (
    <Card title={missedFrom === undefined ? 'Send what came before?' : 'Send what it missed?'}>
      <div class="row spread">
        <p class="quiet">{missedFrom === undefined ? words.before : words.missed}</p>
        <span class="row">
          {sources.map((one) => (
            <AudienceLink key={one} source={one} destination={id} />
          ))}
          <LinkButton href={hrefOf(['replays', '+events'], { destination: id, source, since })}>
            {missedFrom === undefined ? 'Send the last 7 days' : 'Send missed events'}
          </LinkButton>
        </span>
      </div>
    </Card>
  );
}

function AudienceLink({ source, destination }: { readonly source: string; readonly destination: string }) {
  const { data } = useGet('/v1/sources/{id}/audiences', { path: { id: source }, query: { limit: 1 } });
  if (!data || data.items.length === 0) return null;
  return (
    <LinkButton href={hrefOf(['audiences', source], { destination })}>
      {`Send audiences of ${isolated(source)}`}
    </LinkButton>
  );
}
