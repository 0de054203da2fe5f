import type { Schema } from '../../api/client.ts';
import { isLimited, may } from '../../api/session.ts';
import { LinkButton } from '../../parts/button.tsx';
import { Empty, PageHead } from '../../parts/card.tsx';
import { ExportLink } from '../../lists/export-link.tsx';
import { useList } from '../../lists/pager.tsx';
import { News } from '../../lists/news.tsx';
import { ListSearch } from '../../lists/list-search.tsx';
import { formatCount } from '../../parts/format.ts';
import { Status } from '../../parts/status.tsx';
import { MainCell, PagedTable, type Column } from '../../parts/table.tsx';
import { text } from '../../text/index.ts';
import { hrefOf, type PageProps } from '../../url/location.ts';
import { LastSuccess, SuccessRate } from './health.tsx';
import { stateOf } from './state.ts';

const words = {
  emptyLead:
    'A destination receives events at up to five URLs. Choose a type from the catalog, connect sources, send a test event, and enable it.',
};

const keyOf = ({ destination }: Schema['DestinationWithHealth']): string => destination.id;

const columns: readonly Column<Schema['DestinationWithHealth']>[] = [
  {
    title: 'Destination',
    kind: 'main',
    cell: ({ destination, health }) => (
      <MainCell
        below={
          <>
            <Status of={stateOf(destination, health)} />
            {may('write') && destination.enabled && (
              <a class="small" href={hrefOf(['replays', '+events'], { destination: destination.id })}>
                Send past events
              </a>
            )}
          </>
        }
      >
        <a class="row-link" href={hrefOf(['destinations', destination.id])}>
          {destination.id}
        </a>{' '}
        <span class="quiet">{destination.name}</span>
      </MainCell>
    ),
  },
  { title: 'Success rate (1 h)', kind: 'number', cell: ({ health }) => <SuccessRate of={health} /> },
  { title: 'Last success', cell: ({ health }) => <LastSuccess of={health} /> },
  { title: 'Pending', kind: 'number', cell: ({ health }) => health && formatCount(health.pending) },
  {
    title: 'Sources',
    cell: ({ destination }) => <div class="cut url">{destination.sources.join(', ')}</div>,
  },
  {
    title: 'URLs',
    cell: ({ destination }) => <Urls of={destination.settings.webhooks.map(({ url }) => url)} />,
  },
];

function Urls({ of: [first, ...others] }: { readonly of: readonly string[] }) {
  return (
    <div title={[first, ...others].join('\n')}>
      <div class="cut url">{first}</div>
      {others.length > 0 && <span class="quiet small">and {others.length} more</span>}
    </div>
  );
}

export function DestinationList({ query }: Pick<PageProps, 'query'>) {
  const { search = '' } = query;
  const wanted = search === '' ? {} : { search };
  const pages = useList('/v1/destination-health', { query: wanted });
  const create = may('write') && !isLimited.value && (
    <LinkButton kind="main-action" href={hrefOf(['destinations', '+new'])}>
      Create a destination
    </LinkButton>
  );
  return (
    <div class="stack">
      <PageHead
        title={text.shell.pages.destinations}
        lead="A destination receives events from its sources as signed webhooks."
      >
        <ExportLink path="/v1/destination-health.csv" query={wanted} />
        {create}
      </PageHead>
      <ListSearch label="Find a destination" query={query} />
      <News pages={pages} keyOf={keyOf} what={['destination', 'destinations']} />
      <PagedTable
        label={text.shell.pages.destinations}
        columns={columns}
        pages={pages}
        keyOf={keyOf}
        empty={
          search === '' ? (
            <Empty title="No destinations yet" lead={words.emptyLead}>
              {create}
            </Empty>
          ) : (
            <Empty title="No destinations match this id or name" />
          )
        }
      />
    </div>
  );
}
