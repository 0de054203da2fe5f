import type { Schema } from '../../api/client.ts';
import { isLimited, may } from '../../api/session.ts';
import { LinkButton } from '../../parts/button.tsx';
import { Empty, PageHead } from '../../parts/card.tsx';
import { useList } from '../../lists/pager.tsx';
import { ListSearch } from '../../lists/list-search.tsx';
import { Status } from '../../parts/status.tsx';
import { MainCell, PagedTable, type Column } from '../../parts/table.tsx';
import { text } from '../../text/index.ts';
import { hrefOf, type PageProps } from '../../url/location.ts';

const words = {
  emptyLead:
    'A source is an application: a website, an app or a server. Create one, copy a snippet with its write key into your application, and watch the first event arrive.',
};

type Source = Schema['Source'];

const columns: readonly Column<Source>[] = [
  {
    title: 'Source',
    kind: 'main',
    cell: ({ id, name, enabled }) => (
      <MainCell below={<Status of={enabled ? 'enabled' : 'disabled'} />}>
        <a class="row-link" href={hrefOf(['sources', id])}>
          {id}
        </a>{' '}
        <span class="quiet">{name}</span>
      </MainCell>
    ),
  },
  {
    title: 'Write keys',
    cell: ({ builtIn, writeKeys }) => (builtIn ? 'built in' : writeKeys.length),
    kind: 'number',
  },
];

export function SourceList({ query }: Pick<PageProps, 'query'>) {
  const { search = '' } = query;
  const pages = useList('/v1/sources', { query: search === '' ? {} : { search } });
  const isEmpty = search === '' && !pages.hasMore && pages.items.every(({ builtIn }) => builtIn);
  const create = may('write') && !isLimited.value && (
    <LinkButton kind="main-action" href={hrefOf(['sources', '+new'])}>
      Create a source
    </LinkButton>
  );
  return (
    <div class="stack">
      <PageHead
        title={text.shell.pages.sources}
        lead="A source is an application that sends events. Each has its own write keys."
      >
        {create}
      </PageHead>
      <ListSearch label="Find a source" query={query} />
      {!pages.isFirst && isEmpty && <Empty title="No sources yet" lead={words.emptyLead} />}
      <PagedTable
        label={text.shell.pages.sources}
        columns={columns}
        pages={pages}
        keyOf={({ id }) => id}
        empty={search !== '' && <Empty title="No sources match this id or name" />}
      />
    </div>
  );
}
