/** A link to a list as a file. The browser saves it while it is read, so it may be large. */
import { urlOf, type Readable } from '../api/client.ts';
import { LinkButton } from '../parts/button.tsx';
import { queryOf, type Query } from '../url/location.ts';

export function ExportLink({
  path,
  query,
}: {
  readonly path: Extract<Readable, `${string}.csv`>;
  readonly query: Query;
}) {
  return (
    <LinkButton
      href={`${urlOf(path)}${queryOf(query)}`}
      title="Up to 100,000 rows that match the search"
      download
    >
      Export CSV
    </LinkButton>
  );
}
