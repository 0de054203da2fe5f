/** The result of one check of `tailrace doctor`. */
export interface Finding {
  /** `unknown`: it could not be checked, so it may be fine or not. */
  readonly level: 'ok' | 'warn' | 'fail' | 'unknown';
  /** The subject of the check, such as `topics`. */
  readonly about: string;
  readonly says: string;
  /** How to fix it. */
  readonly hint?: string;
}

type Say = (says: string, hint?: string) => Finding;

/** Makes findings about a subject: `aboutTopics.fail('2 topics missing: a, b.', 'Create them.')`. */
export function findingsAbout(about: string): Readonly<Record<Finding['level'], Say>> {
  const at =
    (level: Finding['level']): Say =>
    (says, hint) => ({ level, about, says, ...(hint !== undefined && { hint }) });
  return { ok: at('ok'), warn: at('warn'), fail: at('fail'), unknown: at('unknown') };
}
