/** Runs a command that needs the management API alone. */
import { exitCodes, type CommandContext, type Outcome } from '../command.ts';
import { printable } from '../terminal/table.ts';
import { periodOf, type Period } from '../terminal/times.ts';
import { openApi, type Api, type ApiContext } from './client.ts';

/** A question before something that cannot be undone. */
interface Confirmation<Values> {
  readonly question: (values: Values) => string;
  /** The result where the user refuses. */
  readonly refused: Pick<Outcome, 'text' | 'json'>;
}

export interface ApiRun<Values> {
  /** Gets `since` and `until` as instants in ISO 8601. */
  readonly request: (values: Values, context: ApiContext) => Promise<Outcome>;
  /** Asked on a terminal, if there is no `--yes`. */
  readonly confirm?: Confirmation<Values>;
}

export async function callApi<Values extends object>(
  { request, confirm }: ApiRun<Values>,
  given: Values & Period & { readonly yes?: true },
  context: CommandContext,
): Promise<Outcome> {
  let opened: Api | undefined;
  const apiContext: ApiContext = {
    ...context,
    /** Opened where it is used, so that a mistake in the command line is reported before one in the settings. */
    get api() {
      opened ??= openApi(context);
      return opened;
    },
  };
  if (confirm && !given.yes) {
    const question = printable(confirm.question(given));
    opened = openApi(context);
    if (!(await context.terminal.confirm(question)))
      return { exitCode: exitCodes.failed, ...confirm.refused };
  }
  return request({ ...given, ...periodOf(given) }, apiContext);
}
