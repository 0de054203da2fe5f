import { isLimited, may } from '../../api/session.ts';
import { LinkButton } from '../../parts/button.tsx';
import { Empty, PageHead } from '../../parts/card.tsx';
import { useList } from '../../lists/pager.tsx';
import { ListSearch } from '../../lists/list-search.tsx';
import { Status } from '../../parts/status.tsx';
import { PagedTable, type Column } from '../../parts/table.tsx';
import { text } from '../../text/index.ts';
import { hrefOf, type PageProps } from '../../url/location.ts';
import type { Destination } from './draft.ts';
import { stateOf } from './state.ts';

const words = text.destinations;

const columns: readonly Column<Destination>[] = [
  {
    title: words.id,
    cell: ({ id }) => (
      <a class="row-link" href={hrefOf(['destinations', id])}>
        {id}
      </a>
    ),
  },
  { title: words.name, cell: ({ name }) => name, kind: 'wrap' },
  { title: words.state, cell: (destination) => <Status of={stateOf(destination)} /> },
  { title: words.sources, cell: ({ sources }) => sources.join(', '), kind: 'wrap' },
  {
    title: words.urls,
    kind: 'wrap',
    cell: ({ settings }) => settings.webhooks.map(({ url }) => <div key={url}>{url}</div>),
  },
];

export function DestinationList({ query }: Pick<PageProps, 'query'>) {
  const { search = '' } = query;
  const pages = useList('/v1/destinations', { query: search === '' ? {} : { search } });
  const create = may('write') && !isLimited.value && (
    <LinkButton kind="main-action" href={hrefOf(['destinations', '+new'])}>
      {words.create}
    </LinkButton>
  );
  return (
    <div class="stack">
      <PageHead title={text.shell.pages.destinations} lead={words.lead}>
        {create}
      </PageHead>
      <ListSearch label={words.find} query={query} />
      <PagedTable
        label={text.shell.pages.destinations}
        columns={columns}
        pages={pages}
        keyOf={({ id }) => id}
        empty={
          search === '' ? (
            <Empty title={words.empty} lead={words.emptyLead}>
              {create}
            </Empty>
          ) : (
            <Empty title={words.noneFound} />
          )
        }
      />
    </div>
  );
}
