/** What `DEBUG=analytics` shows, on standard error. The one setting that comes from the environment, as is the custom. */

/** Undefined where it is off, so that nothing is spent on lines that nobody reads. */
export type Debug = ((line: string) => void) | undefined;

export function debugFrom(setting: string | undefined = process.env['DEBUG']): Debug {
  const names = (setting ?? '').split(/[\s,]+/);
  if (!names.some((name) => name === '*' || name === 'analytics' || name === 'analytics*')) return undefined;
  return (line) => {
    process.stderr.write(`${new Date().toISOString()} analytics ${line}\n`);
  };
}
