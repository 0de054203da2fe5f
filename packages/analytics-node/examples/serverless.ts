/**
 * A function on AWS Lambda, Google Cloud or the like. The process may be frozen as soon as the answer is returned,
 * so the calls are sent before. The client is made once, and its connection is kept for the next request.
 */
import { Analytics } from '@tailrace/analytics-node';

const { TAILRACE_ENDPOINT: endpoint = 'http://127.0.0.1:8080', WRITE_KEY: writeKey = 'wk_demo' } =
  process.env;

const analytics = new Analytics({
  writeKey,
  endpoint,
  // The request waits for this, so it is short. Calls that fail are tried again with the next request.
  timeoutMs: 2_000,
  onError: ({ code, message, calls }) => {
    console.error(`${code}: ${message}`, calls);
  },
});

interface Request {
  readonly userId: string;
  readonly orderId: string;
}

export async function handler({ userId, orderId }: Request): Promise<{ statusCode: number }> {
  analytics.track({ userId, event: 'Order Completed', properties: { orderId } });
  // The answer is not held up by a server that is unavailable.
  await Promise.race([analytics.flush(), new Promise((resolve) => setTimeout(resolve, 3_000))]);
  return { statusCode: 204 };
}
