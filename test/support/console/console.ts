/** The console in a browser, on control with an in-memory Kafka cluster, in the process of the test. */
import type { Environment } from '@tailrace/service';
import { openApi, type Api } from '../../../services/control/src/testing/api.ts';
import { openBrowser, type ConsoleBrowser } from './browser.ts';

export interface Console extends AsyncDisposable {
  readonly browser: ConsoleBrowser;
  readonly control: Api;
  /** With a slash at its end. */
  readonly url: string;
}

/** `fill` adds what the console is to show. */
export async function openConsole(
  fill: (control: Api) => Promise<void> = () => Promise.resolve(),
  env: Environment = {},
): Promise<Console> {
  await using started = new AsyncDisposableStack();
  // First: it builds the console where it is older than its sources, and control reads it at its start.
  const browser = started.use(await openBrowser());
  const control = started.use(await openApi(undefined, env));
  await fill(control);
  const url = `${await control.listen()}/`;
  const all = started.move();
  return { browser, control, url, [Symbol.asyncDispose]: () => all.disposeAsync() };
}
