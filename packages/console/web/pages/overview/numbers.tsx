/** The most important numbers, each with the period before and a way to what is behind it. */
import type { Schema } from '../../api/client.ts';
import type { ComponentChildren } from 'preact';
import { formatCount, formatDuration, formatShare, formatShort, isBadRate } from '../../parts/format.ts';
import { hrefOf } from '../../url/location.ts';

const words = {
  before: (text: string) => `previously ${text}`,
};

export function Numbers({ overview }: { readonly overview: Schema['Overview'] | undefined }) {
  const { total, before, pending = [], deadLetters = 0 } = overview ?? {};
  const period = overview && { since: overview.since, until: overview.until };
  const latency = total?.attempts.latencyMs;
  const latencyBefore = before?.attempts.latencyMs;
  return (
    <div class="numbers">
      <Figure
        label="Delivered"
        href={hrefOf(['deliveries'], { status: 'delivered', ...period })}
        value={total && formatShort(total.delivered)}
        hint={before && words.before(formatShort(before.delivered))}
      />
      <Figure
        label="Success rate"
        href={hrefOf(['deliveries'], { status: 'dead', ...period })}
        value={total && formatShare(total.delivered, total.delivered + total.dead)}
        isBad={total && isBadRate(total.delivered, total.delivered + total.dead)}
        hint={
          before &&
          (before.delivered + before.dead > 0
            ? words.before(formatShare(before.delivered, before.delivered + before.dead))
            : 'of completed deliveries')
        }
      />
      <Figure
        label="Latency (p50)"
        href={hrefOf(['deliveries'], { ...period })}
        value={total && time(latency?.p50)}
        hint={
          total &&
          `p99: ${time(latency?.p99)}${
            latencyBefore?.p50 === undefined ? '' : ` · ${words.before(time(latencyBefore.p50))}`
          }`
        }
      />
      <Figure
        label="Pending now"
        href={hrefOf(['deliveries'], { status: 'retrying' })}
        value={overview && formatShort(countOf(pending))}
        hint={
          countOf(pending) > 0
            ? `${formatShort(countOf(pending.filter(({ tier }) => tier !== undefined)))} waiting to retry`
            : undefined
        }
      />
      <Figure
        label="Dead letters"
        href={hrefOf(['replays'])}
        value={overview && formatCount(deadLetters)}
        hint="not replayed, all time"
      />
    </div>
  );
}

function countOf(pending: Schema['Overview']['pending']): number {
  return pending.reduce((sum, { deliveries }) => sum + deliveries, 0);
}

function time(ms: number | undefined): string {
  return ms === undefined ? '–' : formatDuration(ms);
}

interface FigureProps {
  readonly label: string;
  readonly href: string;
  readonly value: string | undefined;
  readonly hint?: ComponentChildren;
  readonly isBad?: boolean | undefined;
}

function Figure({ label, href, value, hint, isBad }: FigureProps) {
  return (
    <a class="card figure" href={href}>
      <span class="quiet">{label}</span>
      <strong class={isBad ? 'numeric bad' : 'numeric'}>{value ?? <span class="skeleton" />}</strong>
      <span class="quiet small">{hint ?? '\u00a0'}</span>
    </a>
  );
}
