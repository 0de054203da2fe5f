import { UsageError } from '../command.ts';

export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/**
 * The path of a resource of the API; each segment may have any characters.
 *
 * @throws UsageError if a segment is `.`, `..` or empty: URLs resolve these also when they are escaped
 */
export function pathOf(...segments: readonly string[]): string {
  const invalid = segments.find((segment) => segment === '.' || segment === '..' || segment === '');
  if (invalid !== undefined) throw new UsageError(`${JSON.stringify(invalid)} is not a valid id or name`);
  return ['/v1', ...segments.map(encodeURIComponent)].join('/');
}
