import type { Schema } from '../../api/client.ts';
import { isLimited, may } from '../../api/session.ts';
import { LinkButton } from '../../parts/button.tsx';
import { Empty, PageHead } from '../../parts/card.tsx';
import { useList } from '../../lists/pager.tsx';
import { ListSearch } from '../../lists/list-search.tsx';
import { Status } from '../../parts/status.tsx';
import { PagedTable, type Column } from '../../parts/table.tsx';
import { text } from '../../text/index.ts';
import { hrefOf, type PageProps } from '../../url/location.ts';

const words = text.sources;
type Source = Schema['Source'];

const columns: readonly Column<Source>[] = [
  {
    title: words.id,
    cell: ({ id }) => (
      <a class="row-link" href={hrefOf(['sources', id])}>
        {id}
      </a>
    ),
  },
  { title: words.name, cell: ({ name }) => name, kind: 'wrap' },
  { title: words.state, cell: ({ enabled }) => <Status of={enabled ? 'enabled' : 'disabled'} /> },
  {
    title: words.keys,
    cell: ({ builtIn, writeKeys }) => (builtIn ? words.builtIn : writeKeys.length),
    kind: 'number',
  },
];

export function SourceList({ query }: Pick<PageProps, 'query'>) {
  const { search = '' } = query;
  const pages = useList('/v1/sources', { query: search === '' ? {} : { search } });
  const isEmpty = search === '' && !pages.hasMore && pages.items.every(({ builtIn }) => builtIn);
  const create = may('write') && !isLimited.value && (
    <LinkButton kind="main-action" href={hrefOf(['sources', '+new'])}>
      {words.create}
    </LinkButton>
  );
  return (
    <div class="stack">
      <PageHead title={text.shell.pages.sources} lead={words.lead}>
        {create}
      </PageHead>
      <ListSearch label={words.find} query={query} />
      {!pages.isFirst && isEmpty && <Empty title={words.empty} lead={words.emptyLead} />}
      <PagedTable
        label={text.shell.pages.sources}
        columns={columns}
        pages={pages}
        keyOf={({ id }) => id}
        empty={search !== '' && <Empty title={words.noneFound} />}
      />
    </div>
  );
}
