/** Adds matchers to PromQL, read with the grammar of Prometheus itself. */
import { parser } from '@prometheus-io/lezer-promql';

/** Durations that Grafana fills in, as durations that no expression of ours has. */
const grafanaDurations = Object.entries({ $__rate_interval: '97m', $__range: '89m' });

/** Adds the matchers that `matchersFor` returns for a metric to each of its selectors. */
export function addMatchers(expr: string, matchersFor: (metric: string) => readonly string[]): string {
  const plain = grafanaDurations.reduce((text, [name, duration]) => text.replaceAll(name, duration), expr);
  const insertions: { readonly at: number; readonly text: string }[] = [];
  parser.parse(plain).iterate({
    enter: ({ name, node, to }) => {
      if (name !== 'VectorSelector') return;
      const metric = node.getChild('Identifier');
      const added = matchersFor(plain.slice(metric?.from, metric?.to)).join(', ');
      const separator = node.getChild('LabelMatchers')?.firstChild ? ', ' : '';
      // Before the closing brace, or in braces of their own.
      const hasBraces = plain[to - 1] === '}';
      insertions.push(hasBraces ? { at: to - 1, text: separator + added } : { at: to, text: `{${added}}` });
    },
  });
  const edited = insertions
    .toSorted((a, b) => b.at - a.at)
    .reduce((text, { at, text: put }) => text.slice(0, at) + put + text.slice(at), plain);
  return grafanaDurations.reduce(
    (text, [name, duration]) => text.replaceAll(`[${duration}]`, `[${name}]`),
    edited,
  );
}
