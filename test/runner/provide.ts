/** What test files need, each provided once for the whole run, and as early as possible. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { startBroker } from '@tailrace/local';
import { testEnvironment } from '../support/caches.ts';
import { prepareClients } from '../support/clients.ts';
import { startBrowser } from '../support/console/browser.ts';
import type { Need } from './job.ts';

export interface Provided extends AsyncDisposable {
  /** Resolves with the variables for jobs with these needs. */
  variables(needs: readonly Need[]): Promise<NodeJS.ProcessEnv>;
}

/** Begins to provide `needs`. A program that cannot be had is reported by the tests that need it. */
export function provide(
  needs: ReadonlySet<Need>,
  root: string,
  { say, signal }: { readonly say: (line: string) => void; readonly signal: AbortSignal },
): Provided {
  const stack = new AsyncDisposableStack();
  const run = async (file: string): Promise<boolean> => {
    const env = testEnvironment(process.env);
    const child = spawn(process.execPath, [file], { cwd: root, env, stdio: 'ignore' });
    stack.defer(() => void child.kill());
    const [code] = (await once(child, 'exit')) as [number | null];
    return code === 0;
  };
  const providers: Record<Need, () => Promise<NodeJS.ProcessEnv>> = {
    async kafka() {
      const broker = stack.use(
        await startBroker({
          env: process.env,
          quickStart: true,
          signal,
          onProgress: (phrase, count) => {
            if (count === undefined) say(`Kafka: ${phrase}`);
          },
        }),
      );
      return { KAFKA_BROKERS: broker.brokers.join(',') };
    },
    async tools() {
      await run('test/support/tools/main.ts');
      return {};
    },
    async 'API types'() {
      const isMade = await run('docs/generate/api-types.ts');
      if (!isMade) throw new Error('The types of the API could not be made: npm run api:types says why.');
      return {};
    },
    async clients() {
      await prepareClients();
      return {};
    },
    async browser() {
      await prepareClients();
      const browser = stack.use(await startBrowser());
      return { TAILRACE_TEST_BROWSER: browser.endpoint };
    },
  };
  const provided = new Map([...needs].map((need) => [need, providers[need]()]));
  // Rejections are reported by the jobs.
  for (const promise of provided.values()) promise.catch(() => undefined);
  return {
    async variables(needs) {
      const found: NodeJS.ProcessEnv = {};
      for (const need of needs) Object.assign(found, await provided.get(need));
      return found;
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}
