/** `tailrace audience delete`. */
import type { Schema } from '@tailrace/api';
import { openApi, pathOf } from '../api/client.ts';
import { exitCodes, type Run } from '../command.ts';
import { printable } from '../terminal/table.ts';

interface Values {
  readonly source: string;
  readonly name: string;
  readonly yes?: boolean;
}

export const deleteAudience: Run<Values> = async ({ source, name, yes }, context) => {
  const api = openApi(context);
  const path = pathOf('sources', source, 'audiences', name);
  const question = `Delete the audience ${printable(name)} of ${printable(source)}?`;
  if (!yes && !(await context.terminal.confirm(question))) {
    return { exitCode: exitCodes.failed, text: ['Nothing was deleted.'], json: { deleted: false } };
  }
  const sync = await api.send<Schema['AudienceSync'] | undefined>('DELETE', path);
  return {
    text: [printable(`The audience ${name} of ${source} is deleted; the destinations are being notified.`)],
    json: sync ?? { deleted: true },
  };
};
