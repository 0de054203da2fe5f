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
