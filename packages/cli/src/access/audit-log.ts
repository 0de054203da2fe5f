/** `tailrace get audit`. */
import type { Schema } from '@tailrace/api';
import { openApi, pathOf } from '../api/client.ts';
import { showPage, type Columns } from '../api/show.ts';
import type { Run } from '../command.ts';
import { periodOf, type Period } from '../terminal/times.ts';

interface Values extends Period {
  readonly action?: string;
  readonly target?: string;
  readonly actor?: string;
  readonly outcome?: string;
  readonly limit: number;
}

const columns: Columns<Schema['AuditEntry']> = {
  AT: ({ at }) => at,
  ACTOR: ({ actor }) => actor.name,
  ADDRESS: ({ address }) => address ?? '-',
  ACTION: ({ action }) => action,
  TARGET: ({ target }) => target ?? '-',
  OUTCOME: ({ outcome, code }) => (outcome === 'refused' ? (code ?? outcome) : outcome),
  CHANGED: ({ changes }) => changes.map(({ field }) => field).join(', ') || '-',
};

export const listAudit: Run<Values> = async (values, context) => {
  const { action, target, actor, outcome, limit, ...period } = values;
  const query = { action, target, actor, outcome, ...periodOf(period) };
  const page = await openApi(context).list<Schema['AuditEntry']>(pathOf('audit'), query, limit);
  return showPage(page, 'entry', columns);
};
