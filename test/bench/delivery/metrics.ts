/** Reads the metrics of the service, in the text format of Prometheus, and measures what a scrape costs. */
import { median } from '../figures/statistics.ts';

export interface Metrics {
  /** The sum of all samples of this name that have these labels; 0 if there is none. */
  sum(name: string, labels?: Readonly<Record<string, string>>): number;
}

export async function scrape(port: number): Promise<Metrics> {
  const response = await fetch(`http://127.0.0.1:${port}/metrics`);
  return parseMetrics(await response.text());
}

/** Size and duration of a scrape, and how long it blocked the process: medians of several scrapes. */
export interface Scrape {
  /** Before compression. */
  readonly bytes: number;
  readonly series: number;
  readonly tookMs: number;
  /** The longest time that another request waited during the scrape. */
  readonly heldMs: number;
}

const scrapes = 5;

/** Scrapes a page several times; undefined if the page does not exist. */
export async function measureScrape(port: number, page: string): Promise<Scrape | undefined> {
  const all: Scrape[] = [];
  while (all.length < scrapes) {
    const one = await scrapeOnce(`http://127.0.0.1:${port}`, page);
    if (!one) return undefined;
    all.push(one);
  }
  const of = (figure: keyof Scrape): number => median(all.map((one) => one[figure]));
  return { bytes: of('bytes'), series: of('series'), tookMs: of('tookMs'), heldMs: of('heldMs') };
}

/** Other requests are sent one after another during the scrape, to show how long it blocks the event loop. */
async function scrapeOnce(origin: string, page: string): Promise<Scrape | undefined> {
  let [scraping, heldMs] = [true, 0];
  const others = (async () => {
    while (scraping) {
      const began = performance.now();
      await (await fetch(`${origin}/livez`)).arrayBuffer();
      heldMs = Math.max(heldMs, performance.now() - began);
    }
  })();
  const began = performance.now();
  const response = await fetch(`${origin}${page}`);
  const body = Buffer.from(await response.arrayBuffer());
  const tookMs = performance.now() - began;
  scraping = false;
  await others;
  if (!response.ok) return undefined;
  const lines = body.toString('latin1').split('\n');
  const series = lines.filter((line) => line !== '' && !line.startsWith('#')).length;
  return { bytes: body.length, series, tookMs, heldMs };
}

/** Reads samples without timestamps and labels without escapes; the service writes no others. */
export function parseMetrics(text: string): Metrics {
  const samples = text
    .split('\n')
    .map((line) => /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line))
    .filter((match) => match !== null)
    .map(([, name = '', labels = '', value]) => ({ name, labels: labels.split(','), value: Number(value) }));
  return {
    sum(name, labels = {}) {
      const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
      return samples
        .filter((sample) => sample.name === name && wanted.every((label) => sample.labels.includes(label)))
        .reduce((sum, { value }) => sum + value, 0);
    },
  };
}
