/** The whole way of an event in one picture: accepted, routed, and what became of it at each destination. */
import type { ComponentChildren } from 'preact';
import type { Schema } from '../../api/client.ts';
import { may } from '../../api/session.ts';
import { Json } from '../../parts/code.tsx';
import { Badge, Reason, Status, toneOf, type Tone } from '../../parts/status.tsx';
import { Due, Time } from '../../parts/time.tsx';
import { TransformFailure } from '../../parts/transform-failure.tsx';
import { text } from '../../text/index.ts';
import { hrefOf, type Query } from '../../url/location.ts';

type Trace = Schema['EventTrace'];

const shownDestinations = 20;
const minuteMs = 60_000;

export function Picture({ trace }: { readonly trace: Trace }) {
  const { accepted, deliveries, decisions, rejections, outcome } = trace;
  const [decision] = decisions;
  const [first] = deliveries;
  const sourceId = accepted?.sourceId ?? decision?.sourceId ?? first?.sourceId;
  const at = accepted?.acceptedAt ?? first?.createdAt ?? decision?.decidedAt;
  const isKnown = at !== undefined || rejections.length > 0;
  const about = (ms: number): string | undefined => at && new Date(Date.parse(at) + ms).toISOString();
  const again = {
    source: sourceId,
    event: accepted?.event ?? first?.event,
    user: first?.userKey,
    since: about(-minuteMs),
    until: about(minuteMs),
  };
  return (
    <figure class="picture" aria-label="Event flow">
      {rejections.map(({ code, message, rejectedAt }) => (
        <Node key={rejectedAt} tone="bad" title="Rejected" at={rejectedAt}>
          <code>{code}</code>
          <p class="breakable">{message}</p>
        </Node>
      ))}
      {!isKnown && <Node tone="neutral" title="Not found" />}
      {at !== undefined && (
        <Node tone="accent" title="Accepted by ingest" at={accepted?.acceptedAt}>
          {sourceId !== undefined && <a href={hrefOf(['sources', sourceId])}>{sourceId}</a>}
        </Node>
      )}
      {(deliveries.length > 0 || decision) && (
        <>
          <Arrow />
          <Node
            tone={deliveries.length > 0 ? 'good' : 'warning'}
            title="Router"
            at={decision?.decidedAt ?? first?.createdAt}
          >
            {text.outcomes[outcome]}
          </Node>
          <Arrow />
          <ul class="branches">
            {deliveries.map((delivery) => (
              <li key={delivery.deliveryId}>
                <Delivered delivery={delivery}>
                  <SendAgain query={{ ...again, destination: delivery.destinationId }} />
                </Delivered>
              </li>
            ))}
            {decisions.flatMap(({ filtered, decidedAt }) =>
              filtered.map((group) => (
                <li key={`${decidedAt} ${group.reason} ${group.rule?.path ?? ''}`}>
                  <Filtered group={group}>
                    {group.count === 1 && (
                      <SendAgain query={{ ...again, destination: group.destinations[0] }} />
                    )}
                  </Filtered>
                </li>
              )),
            )}
          </ul>
        </>
      )}
    </figure>
  );
}

function Node({
  tone,
  title,
  at,
  children,
}: {
  readonly tone: Tone;
  readonly title: ComponentChildren;
  readonly at?: string;
  readonly children?: ComponentChildren;
}) {
  return (
    <div class={`node ${tone}`}>
      <strong>{title}</strong>
      {at !== undefined && (
        <span class="quiet small">
          <Time at={at} />
        </span>
      )}
      {children}
    </div>
  );
}

function Arrow() {
  return (
    <span class="arrow" aria-hidden="true">
      →
    </span>
  );
}

function SendAgain({ query }: { readonly query: Query }) {
  if (!may('write')) return null;
  return (
    <a class="small" href={hrefOf(['replays', '+events'], query)}>
      Send past events
    </a>
  );
}

interface DeliveredProps {
  readonly delivery: Trace['deliveries'][number];
  readonly children: ComponentChildren;
}

function Delivered({ delivery, children }: DeliveredProps) {
  const { deliveryId, destinationId, status, reason, attempts, nextDueAt, lastAttempt, resends } = delivery;
  const sentAgain = resends.at(-1);
  return (
    <Node tone={toneOf(status)} title={<a href={hrefOf(['deliveries', deliveryId])}>{destinationId}</a>}>
      <span class="row">
        <Status of={status} /> <span class="quiet small">{attempts}×</span>
        {nextDueAt !== undefined && <Due at={nextDueAt} />}
      </span>
      {sentAgain && (
        <span class="quiet small">
          Sent again <Time at={sentAgain.at} />
        </span>
      )}
      {status !== 'delivered' && <Reason of={reason} />}
      <TransformFailure of={delivery} />
      {lastAttempt?.urls.map(({ url, status, exchange }) => (
        <div key={url} class="stack tight">
          {status !== undefined && (
            <span class="row">
              <Badge tone="bad">{status}</Badge> <code class="breakable">{url}</code>
            </span>
          )}
          {exchange?.responseBody !== undefined && <Json label="Response body">{exchange.responseBody}</Json>}
        </div>
      ))}
      {children}
    </Node>
  );
}

interface FilteredProps {
  readonly group: Trace['decisions'][number]['filtered'][number];
  readonly children: ComponentChildren;
}

function Filtered({ group, children }: FilteredProps) {
  const { reason, rule, count, destinations } = group;
  const shown = destinations.slice(0, shownDestinations);
  return (
    <Node
      tone="neutral"
      title={
        <>
          {shown.map((id, index) => (
            <span key={id}>
              {index > 0 && ', '}
              <a href={hrefOf(['destinations', id])}>{id}</a>
            </span>
          ))}
          {count > shown.length && ` and ${count - shown.length} more`}
        </>
      }
    >
      <Badge>not delivered</Badge>
      <Reason of={reason} />
      {rule && (
        <span class="small">
          Rule <code class="breakable">{rule.text}</code>
        </span>
      )}
      {children}
    </Node>
  );
}
