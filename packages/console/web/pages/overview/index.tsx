import { useRef } from 'preact/hooks';
import type { Schema } from '../../api/client.ts';
import { useLive } from '../../api/live.ts';
import { useGet } from '../../api/resource.ts';
import { isLimited } from '../../api/session.ts';
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

const refreshMs = 15_000;
/** After an attempt, the numbers are asked for at most this often. */
const liveMs = 2_000;

export default function OverviewPage({ query }: PageProps) {
  if (isLimited.value) {
    return (
      <>
        <PageHead title={text.shell.pages.overview} />
        <Empty title={text.overview.limited}>
          <LinkButton href={hrefOf(['deliveries'])}>{text.overview.toDeliveries}</LinkButton>
        </Empty>
      </>
    );
  }
  return <Whole query={query} />;
}

function Whole({ query }: Pick<PageProps, 'query'>) {
  const range = rangeOf(query);
  const shown = useGet('/v1/overview', { query: range }, { everyMs: refreshMs });
  const askedAt = useRef(0);
  useLive({
    onCounts() {
      // A fixed period in the past does not change.
      if (range.until !== undefined || Date.now() - askedAt.current < liveMs) return;
      askedAt.current = Date.now();
      void shown.reload();
    },
    onMissed: () => void shown.reload(),
  });
  const { data, error } = shown;
  return (
    <div class="stack wide">
      <PageHead title={text.shell.pages.overview} lead={text.overview.lead}>
        <RangeChoice query={query} />
      </PageHead>
      <ErrorNote error={error} onRetry={shown.reload} />
      {data && data.behind > 1_000 && <p class="quiet">{text.overview.behind(formatCount(data.behind))}</p>}
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
      <Card title={text.overview.funnel}>
        {isEmpty ? (
          <Empty title={text.overview.empty} lead={text.overview.emptyLead}>
            <LinkButton kind="main-action" href={hrefOf(['sources'])}>
              {text.overview.createSource}
            </LinkButton>
          </Empty>
        ) : (
          <Funnel overview={data} />
        )}
      </Card>
      <FlowCharts overview={data} />
      <div class="columns">
        <Card title={text.overview.tiers} flush>
          <Tiers overview={data} />
        </Card>
        <Card title={text.overview.breakers}>
          <Breakers overview={data} />
        </Card>
      </div>
    </>
  );
}

function sumOf({ total }: Schema['Overview']): number {
  return total.delivered + total.dead + total.retrying + total.waiting + total.unknown;
}
