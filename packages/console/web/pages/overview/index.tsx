import type { Schema } from '../../api/client.ts';
import { useLiveReload } from '../../api/live.ts';
import { useGet } from '../../api/resource.ts';
import { isLimited, may } from '../../api/session.ts';
import { LinkButton } from '../../parts/button.tsx';
import { Card, Empty, PageHead } from '../../parts/card.tsx';
import { formatCount } from '../../parts/format.ts';
import { ErrorNote } from '../../parts/notes.tsx';
import { text } from '../../text/index.ts';
import { hrefOf, type PageProps } from '../../url/location.ts';
import { FlowCharts } from './charts.tsx';
import { Funnel } from './funnel.tsx';
import { Numbers } from './numbers.tsx';
import { Breakers, Tiers } from './pending.tsx';
import { RangeChoice, rangeOf } from './range.tsx';

const words = {
  lead: 'Your events from received to delivered, and why some were not.',
  behind: (count: string) =>
    `The history is still reading ${count} records. Totals are incomplete until then.`,
};

const refreshMs = 15_000;

export default function OverviewPage({ query }: PageProps) {
  if (isLimited.value) {
    return (
      <>
        <PageHead title={text.shell.pages.overview} />
        <Empty title="This token is limited to certain sources or destinations, so overall totals are hidden.">
          <LinkButton href={hrefOf(['deliveries'])}>View deliveries</LinkButton>
        </Empty>
      </>
    );
  }
  return <Whole query={query} />;
}

function Whole({ query }: Pick<PageProps, 'query'>) {
  const range = rangeOf(query);
  const shown = useGet('/v1/overview', { query: range }, { everyMs: refreshMs });
  // A fixed period in the past does not change.
  useLiveReload(range.until === undefined ? shown.reload : undefined);
  const { data, error } = shown;
  return (
    <div class="stack wide">
      <PageHead
        title={text.shell.pages.overview}
        lead={data && data.behind > 1_000 ? words.behind(formatCount(data.behind)) : words.lead}
      >
        <RangeChoice query={query} />
      </PageHead>
      <ErrorNote error={error} onRetry={shown.reload} />
      {(data !== undefined || error === undefined) && <Content overview={data} />}
    </div>
  );
}

/** With placeholders until there are numbers. */
function Content({ overview: data }: { readonly overview: Schema['Overview'] | undefined }) {
  const isEmpty = data?.total.received === 0 && data.before.received === 0 && sumOf(data) === 0;
  return (
    <>
      <Numbers overview={data} />
      <Card title="Event flow">
        {isEmpty ? (
          <Empty
            title="No events yet"
            lead="Create a source, connect a destination, and send a call. It appears here within a second."
          >
            {may('write') && (
              <LinkButton kind="main-action" href={hrefOf(['sources', '+new'])}>
                Create a source
              </LinkButton>
            )}
            <LinkButton href={hrefOf(['sources'])}>View sources</LinkButton>
          </Empty>
        ) : (
          <Funnel overview={data} />
        )}
      </Card>
      <FlowCharts overview={data} />
      <div class="columns">
        <Card title="Pending deliveries" flush>
          <Tiers overview={data} />
        </Card>
        <Card title="Open circuit breakers">
          <Breakers overview={data} />
        </Card>
      </div>
    </>
  );
}

function sumOf({ total }: Schema['Overview']): number {
  const { delivered, dead, retrying, waiting, canceled, unknown } = total;
  return delivered + dead + retrying + waiting + canceled + unknown;
}
