/** What the service says of itself: its metrics, in the text format of Prometheus. */

export interface Metrics {
  /** The sum of all samples of this name that have these labels; 0 where there is none. */
  sum(name: string, labels?: Readonly<Record<string, string>>): number;
}

export async function scrape(port: number): Promise<Metrics> {
  const response = await fetch(`http://127.0.0.1:${port}/metrics`);
  return parseMetrics(await response.text());
}

/** Reads samples without timestamps and labels without escapes, which is all that the service writes. */
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
