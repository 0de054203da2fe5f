/** The audit log: who changed what, and what was refused. Its filter is in the address. */
import type { Schema } from '../../api/client.ts';
import { Empty, PageHead } from '../../parts/card.tsx';
import { formatCount, formatCounted } from '../../parts/format.ts';
import { ExportLink } from '../../lists/export-link.tsx';
import { useList } from '../../lists/pager.tsx';
import { SearchForm } from '../../lists/search-form.tsx';
import { Status } from '../../parts/status.tsx';
import { PagedTable, type Column } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { text } from '../../text/index.ts';
import { hrefOf, type PageProps } from '../../url/location.ts';

const words = {
  outcomes: { '': 'any', done: 'done', refused: 'refused' },
  spans: { '': 'last 90 days', '1h': 'last hour', '24h': 'last 24 hours', '168h': 'last 7 days' },
};

type Entry = Schema['AuditEntry'];
const outcomes = ['done', 'refused'] as const;

const columns: readonly Column<Entry>[] = [
  {
    title: 'Time and actor',
    cell: ({ at, actor }) => (
      <>
        <Time at={at} />
        <div class="actor cut quiet small" title={actor.fingerprint}>
          {actor.name}
        </div>
      </>
    ),
  },
  {
    title: 'Action and target',
    cell: ({ action, target }) => (
      <>
        <code>{action}</code>
        {target !== undefined && (
          <div class="cut url" title={target}>
            <Target of={target} />
          </div>
        )}
      </>
    ),
  },
  { title: 'Outcome', cell: OutcomeCell },
  { title: 'Address', cell: ({ address }) => address },
  { title: 'Changes', kind: 'main', cell: Changes },
];

export default function Audit({ query }: PageProps) {
  const { action, target, actor, since } = query;
  const outcome = outcomes.find((one) => one === query['outcome']);
  const wanted = { action, target, actor, since, outcome };
  const pages = useList('/v1/audit', { query: wanted });
  return (
    <>
      <PageHead
        title={text.shell.pages.audit}
        lead="Changes, body views and refused requests from the last 90 days, newest first."
      >
        <ExportLink path="/v1/audit.csv" query={wanted} />
      </PageHead>
      <div class="stack">
        <SearchForm
          label="Search"
          query={query}
          choices={[
            { name: 'outcome', label: 'Outcome', values: Object.entries(words.outcomes) },
            { name: 'since', label: 'Period', values: Object.entries(words.spans) },
          ]}
          fields={[
            { name: 'action', label: 'Action', hint: 'token.create' },
            { name: 'target', label: 'Target', hint: 'source/web' },
            { name: 'actor', label: 'Actor' },
          ]}
        />
        <PagedTable
          label={text.shell.pages.audit}
          columns={columns}
          pages={pages}
          keyOf={({ id }) => id}
          empty={
            <Empty
              title="No entries"
              lead="No entries match these filters. Remove a filter or choose a longer period."
            />
          }
        />
      </div>
    </>
  );
}

const pageNames: Readonly<Record<string, string>> = {
  destination: 'destinations',
  source: 'sources',
  notification: 'notifications',
  delivery: 'deliveries',
  deletion: 'deletions',
};

/** A target that has a page is a link to it. */
function Target({ of }: { readonly of: string }) {
  const [kind = '', id = ''] = of.split('/', 2);
  const page = pageNames[kind];
  return page === undefined ? <>{of}</> : <a href={hrefOf([page, id])}>{of}</a>;
}

function OutcomeCell({ outcome, code, notRecorded }: Entry) {
  return (
    <div
      title={
        notRecorded === undefined
          ? undefined
          : `Not recorded before it: ${formatCounted(notRecorded, 'refused request')}.`
      }
    >
      <Status of={outcome} />
      {code !== undefined && (
        <div>
          <code>{code}</code>
        </div>
      )}
    </div>
  );
}

function Changes({ changes, moreChanges }: Entry) {
  if (changes.length === 0) return null;
  return (
    <details>
      <summary>{changedFields(changes.map(({ field }) => field))}</summary>
      <dl class="facts">
        {changes.map(({ field, before, after }) => (
          <ChangeOf key={field} field={field} before={before} after={after} />
        ))}
      </dl>
      {moreChanges !== undefined && <p>and {formatCount(moreChanges)} more</p>}
    </details>
  );
}

const namedFields = 3;

function changedFields(fields: readonly string[]): string {
  const named = fields.slice(0, namedFields).join(', ');
  return fields.length > namedFields ? `${named} and ${fields.length - namedFields} more` : named;
}

function ChangeOf({ field, before, after }: Entry['changes'][number]) {
  return (
    <>
      <dt>
        <code>{field}</code>
      </dt>
      <dd>
        <del>{shown(before)}</del> → <ins>{shown(after)}</ins>
      </dd>
    </>
  );
}

function shown(value: unknown): string {
  return value === undefined ? '–' : JSON.stringify(value);
}
