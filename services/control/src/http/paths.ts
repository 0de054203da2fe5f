/** The methods of each path, for 405 answers: fastify only reports that no route matches path and method together. */
import type { RouteOptions } from 'fastify';

export interface Paths {
  add(route: Pick<RouteOptions, 'url' | 'method'>): void;
  /** The methods of a URL's path; empty for an unknown path. */
  methodsOf(url: string): readonly string[];
}

export function createPaths(): Paths {
  const patterns = new Map<string, { readonly pattern: RegExp; readonly methods: Set<string> }>();
  return {
    add({ url, method }) {
      const known = patterns.get(url) ?? { pattern: patternOf(url), methods: new Set<string>() };
      for (const name of [method].flat()) known.methods.add(name);
      patterns.set(url, known);
    },
    methodsOf(url) {
      const [path = ''] = url.split('?', 1);
      const found = [...patterns.values()].filter(({ pattern }) => pattern.test(path));
      return [...new Set(found.flatMap(({ methods }) => [...methods]))].sort();
    },
  };
}

function patternOf(url: string): RegExp {
  const steps = url.split('/').map((step) => {
    if (step === '*') return '.*';
    return step.startsWith(':') ? '[^/]+' : step.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
  });
  return new RegExp(`^${steps.join('/')}$`);
}
