/** The metrics of running services, read as Prometheus reads them. */
import assert from 'node:assert/strict';
import type { Term } from '@tailrace/metrics';

export const metricsPages = ['', '/destinations', '/sources', '/partitions'] as const;

export interface Series {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** The text of a page of a service, whose metrics port is at `url`. */
export async function pageOf(url: string, page: (typeof metricsPages)[number] = ''): Promise<string> {
  const response = await fetch(`${url}/metrics${page}`);
  assert.equal(response.status, 200, page);
  return response.text();
}

/** All series of all pages of these services. */
export async function scrape(urls: readonly string[]): Promise<readonly Series[]> {
  const texts = await Promise.all(urls.flatMap((url) => metricsPages.map((page) => pageOf(url, page))));
  return texts.flatMap(seriesIn);
}

export function seriesIn(text: string): Series[] {
  return text.split('\n').flatMap((line) => {
    const [, name, labels = '', value] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
    return name === undefined ? [] : [{ name, labels: labelsIn(labels), value: Number(value) }];
  });
}

function labelsIn(text: string): Readonly<Record<string, string>> {
  const found = text.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g);
  return Object.fromEntries(Array.from(found, ([, name = '', value = '']) => [name, value]));
}

/** The sum of all series with this name and these labels. */
export function sumOf(
  series: readonly Series[],
  { name, labels = {} }: Omit<Term, 'name'> & { readonly name: string },
): number {
  return series
    .filter(
      (one) =>
        one.name === name && Object.entries(labels).every(([label, value]) => one.labels[label] === value),
    )
    .reduce((sum, { value }) => sum + value, 0);
}
