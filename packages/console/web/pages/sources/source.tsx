import { useResource } from '../../api/resource.ts';
import { may } from '../../api/session.ts';
import { Empty, PageHead, PageOfEntry } from '../../parts/card.tsx';
import { Badge, Status } from '../../parts/status.tsx';
import { tabOf, Tabs } from '../../parts/tabs.tsx';
import { Live } from './calls.tsx';
import { Connect } from './connect.tsx';
import { SourceEvents } from './events.tsx';
import { requests } from './requests.ts';
import { SourceSettings } from './settings.tsx';
import { Usage } from './usage.tsx';

const words = {
  builtInLead:
    'This source is part of Tailrace. Its events report what happens to destinations. It has no write key.',
};

const titles = { connect: 'Connect', live: 'Live', events: 'Events', usage: 'Usage', settings: 'Settings' };
const tabs = Object.entries(titles) as [keyof typeof titles, string][];

interface SourcePageProps {
  readonly id: string;
  readonly query: Readonly<Record<string, string>>;
}

export function SourcePage({ id, query }: SourcePageProps) {
  const {
    data: version,
    error,
    reload,
    set,
  } = useResource(`source ${id}`, (signal) => requests.load(id, signal));
  if (!version) return <PageOfEntry title={id} error={error} onRetry={reload} />;
  const { data: source } = version;
  const visible = tabs.filter(([name]) => name !== 'settings' || (may('write') && !source.builtIn));
  const tab = tabOf(visible, query['tab'], 'connect');
  return (
    <div class="stack">
      <PageHead
        title={source.name ?? source.id}
        lead={
          <span class="row">
            <code>{source.id}</code>
            <Status of={source.enabled ? 'enabled' : 'disabled'} />
            {source.builtIn && <Badge>built in</Badge>}
          </span>
        }
      />
      <Tabs label={source.id} steps={['sources', id]} tabs={visible} current={tab} />
      {tab === 'connect' && (source.builtIn ? <BuiltIn /> : <Connect source={source} query={query} />)}
      {tab === 'live' && <Live source={source} query={query} />}
      {tab === 'events' && <SourceEvents id={id} onChanged={reload} />}
      {tab === 'usage' && <Usage id={id} />}
      {tab === 'settings' && <SourceSettings version={version} onVersion={set} />}
    </div>
  );
}

function BuiltIn() {
  return <Empty title="Built in" lead={words.builtInLead} />;
}
