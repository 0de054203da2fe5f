/** One destination: its state and actions, and the tabs below. */
import { useState } from 'preact/hooks';
import { api, askWhole, get, type Schema } from '../../api/client.ts';
import { useResource, type Resource } from '../../api/resource.ts';
import { isLimitedToBoth, may } from '../../api/session.ts';
import { Action } from '../../parts/action.tsx';
import { LinkButton } from '../../parts/button.tsx';
import { Card, Empty, PageHead, PageOfEntry } from '../../parts/card.tsx';
import { attempt } from '../../parts/notes.tsx';
import { Status } from '../../parts/status.tsx';
import { tabOf, Tabs } from '../../parts/tabs.tsx';
import { hrefOf } from '../../url/location.ts';
import type { Version, VersionProps } from '../../versions/change.ts';
import type { Destination } from './draft.ts';
import { Failures } from './activity/failures.tsx';
import { FilterPart } from './filter/index.tsx';
import { DestinationOverview } from './activity/overview.tsx';
import { HealthLine } from './health.tsx';
import { OfferCard, type Offer } from './offers.tsx';
import { OutageCard, Since } from './outage.tsx';
import { requests } from './requests.ts';
import { DestinationSettings } from './settings.tsx';
import { stateOf } from './state.ts';
import { TestEvent } from './test-event.tsx';
import { TransformPart } from './transform/index.tsx';

const words = {
  limited:
    'This token is limited to certain sources and destinations, so totals for the whole destination are hidden.',
  disableMessage:
    'Events that arrive while it is disabled are never delivered to it. To keep them waiting instead, pause the destination.',
  enabledAgain: 'Enabled. Events that arrived while it was disabled are not delivered.',
  disabledBecause: 'Tailrace disabled it because all attempts had failed since',
  disabledLead:
    'It receives no events until you enable it, and does not receive them later. Send a test event first to see whether the receiver accepts it.',
};

const healthEveryMs = 10_000;

const titles = {
  overview: 'Overview',
  failures: 'Failures',
  test: 'Test',
  filter: 'Filter',
  transform: 'Transform',
  settings: 'Settings',
};
const tabs = Object.entries(titles) as [keyof typeof titles, string][];
const forWriters: readonly string[] = ['test', 'filter', 'transform', 'settings'];

function isVisible(tab: string): boolean {
  if (tab === 'failures') return !isLimitedToBoth.value;
  return may('write') || !forWriters.includes(tab);
}

interface DestinationPageProps {
  readonly id: string;
  readonly query: Readonly<Record<string, string>>;
}

export function DestinationPage({ id, query }: DestinationPageProps) {
  const {
    data: version,
    error,
    reload,
    set,
  } = useResource(`destination ${id}`, (signal) => requests.load(id, signal));
  const known = useHealth(version ? id : null);
  const { data: health } = known;
  const outage = health?.outage;
  const [made, setOffer] = useState<Offer>();
  // An outage would move what is shown already.
  const mayHaveOutage = version && (!version.data.enabled || version.data.disableAfter !== undefined);
  if (!version || (mayHaveOutage && known.isLoading && !health && !known.error)) {
    return <PageOfEntry title={id} error={error} onRetry={reload} />;
  }
  const { data } = version;
  const offer = made ?? (query['created'] === undefined ? undefined : { sources: data.sources });
  const visible = tabs.filter(([name]) => isVisible(name));
  const tab = tabOf(visible, query['tab'], 'overview');
  return (
    <div class="stack">
      <PageHead title={data.name ?? id} lead={<Lead destination={data} health={health} />}>
        {may('write') && data.enabled && (
          <LinkButton href={hrefOf(['replays', '+events'], { destination: id })}>Send past events</LinkButton>
        )}
        {may('write') && (
          <Actions
            version={version}
            onVersion={set}
            onEnabled={({ data: { sources } }) => setOffer({ sources, missedFrom: outage?.missedFrom })}
          />
        )}
      </PageHead>
      <Tabs label={id} steps={['destinations', id]} tabs={visible} current={tab} />
      {!data.enabled && (
        <Card>
          <div class="row spread">
            <div>
              <h2>This destination is disabled</h2>
              {outage?.state === 'disabled' && (
                <p>
                  {words.disabledBecause} <Since outage={outage} />
                </p>
              )}
              <p class="quiet">{words.disabledLead}</p>
            </div>
            {may('write') && tab !== 'test' && (
              <LinkButton href={hrefOf(['destinations', id], { tab: 'test' })}>Send a test event</LinkButton>
            )}
          </div>
        </Card>
      )}
      {data.enabled && <OutageCard outage={outage} />}
      {data.enabled && <OfferCard id={id} offer={offer} />}
      {tab === 'overview' &&
        (isLimitedToBoth.value ? (
          <Limited id={id} />
        ) : (
          <DestinationOverview destination={data} query={query} />
        ))}
      {tab === 'failures' && <Failures id={id} query={query} />}
      {tab === 'test' && <TestEvent destination={data} />}
      {tab === 'filter' && <FilterPart version={version} onVersion={set} />}
      {tab === 'transform' && <TransformPart version={version} onVersion={set} />}
      {tab === 'settings' && (
        <DestinationSettings
          version={version}
          onVersion={(changed) => {
            const sources = changed.data.sources.filter((source) => !data.sources.includes(source));
            if (sources.length > 0) setOffer({ sources });
            set(changed);
          }}
        />
      )}
    </div>
  );
}

function Limited({ id }: { readonly id: string }) {
  return (
    <Empty title={words.limited}>
      <LinkButton href={hrefOf(['deliveries'], { destination: id })}>View deliveries</LinkButton>
    </Empty>
  );
}

/** The numbers of a whole destination are not for every token. */
function useHealth(id: string | null): Resource<Schema['DestinationHealth']> {
  const key = id === null || isLimitedToBoth.value ? null : `health ${id}`;
  const params = { path: { id: id ?? '' } };
  const load = (signal: AbortSignal) => get('/v1/destinations/{id}/health', params, signal);
  return useResource(key, load, { everyMs: healthEveryMs });
}

interface LeadProps {
  readonly destination: Destination;
  readonly health: Schema['DestinationHealth'] | undefined;
}

function Lead({ destination, health }: LeadProps) {
  // The numbers arrive later, so nothing but they may stand in their line.
  return (
    <>
      <span class="row">
        <code>{destination.id}</code>
        <Status of={stateOf(destination, health)} />
        <HealthLine of={health} />
      </span>
      {destination.sources.length > 0 && (
        <span class="quiet small">
          from{' '}
          {destination.sources.map((id, nth) => (
            <span key={id}>
              {nth > 0 && ', '}
              <a href={hrefOf(['sources', id])}>{id}</a>
            </span>
          ))}
        </span>
      )}
    </>
  );
}

interface ActionsProps extends VersionProps<Destination> {
  readonly onEnabled: (enabled: Version<Destination>) => void;
}

function Actions({ version, onVersion, onEnabled }: ActionsProps) {
  const { id, enabled, paused } = version.data;
  const params = { path: { id } };
  const setEnabled = (isEnabled: boolean): Promise<Version<Destination>> =>
    askWhole(api.PATCH('/v1/destinations/{id}', { params, body: { enabled: isEnabled } }));
  const show = (changed: Version<Destination> | undefined): void => {
    if (changed) onVersion(changed);
  };
  return (
    <>
      {paused ? (
        <Action
          request={() => askWhole(api.POST('/v1/destinations/{id}/resume', { params }))}
          done="Resumed. Waiting deliveries are sent, oldest first."
          after={show}
        >
          Resume
        </Action>
      ) : (
        <Action
          request={() => askWhole(api.POST('/v1/destinations/{id}/pause', { params }))}
          done="Paused. Deliveries wait until you resume it."
          after={show}
        >
          Pause
        </Action>
      )}
      {enabled ? (
        <Action
          question={{ title: `Disable ${id}?`, message: words.disableMessage, danger: true }}
          request={() => setEnabled(false)}
          done="Disabled."
          undo={async () => {
            show(await attempt(() => setEnabled(true), words.enabledAgain));
          }}
          after={show}
        >
          Disable
        </Action>
      ) : (
        <Action
          kind="main-action"
          request={() => setEnabled(true)}
          done="Enabled. Events arrive within two seconds."
          after={(changed) => {
            if (changed) onEnabled(changed);
            show(changed);
          }}
        >
          Enable
        </Action>
      )}
    </>
  );
}
