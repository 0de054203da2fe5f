/** The result of one check of `tailrace doctor`. */
export interface Finding {
  readonly level: 'ok' | 'warn' | 'fail';
  /** The subject of the check, such as `topics`. */
  readonly about: string;
  readonly says: string;
  /** How to fix it. */
  readonly hint?: string;
}
