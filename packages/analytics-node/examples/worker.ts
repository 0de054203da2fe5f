/**
 * An edge worker, such as on Cloudflare or Vercel: fetch only, nothing of Node. The client belongs to one request,
 * because some of these runtimes do not share connections and timers between requests.
 */
import { Analytics } from '@tailrace/analytics-node/fetch';

interface Environment {
  readonly TAILRACE_ENDPOINT: string;
  readonly WRITE_KEY: string;
}

interface Lifetime {
  /** Keeps the worker alive until the promise is settled, after the response was sent. */
  waitUntil(promise: Promise<unknown>): void;
}

export default {
  fetch(request: Request, env: Environment, lifetime: Lifetime): Response {
    const analytics = new Analytics({
      writeKey: env.WRITE_KEY,
      endpoint: env.TAILRACE_ENDPOINT,
      onError: ({ code, message, calls }) => {
        console.error(`${code}: ${message}`, calls);
      },
    });
    const { pathname } = new URL(request.url);
    const anonymousId = request.headers.get('x-visitor') ?? 'unknown';
    analytics.page({ anonymousId, name: pathname, properties: { path: pathname } });
    lifetime.waitUntil(analytics.close({ deadlineMs: 10_000 }));
    return new Response('hello\n');
  },
};
