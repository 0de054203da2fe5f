/** What is known of a user beside events: suppression, deletion requests and audiences. */
import type { ComponentChildren } from 'preact';
import { useGet } from '../../api/resource.ts';
import { Card } from '../../parts/card.tsx';
import { Facts } from '../../parts/facts.tsx';
import { ErrorNote } from '../../parts/notes.tsx';
import { Time } from '../../parts/time.tsx';
import { hrefOf } from '../../url/location.ts';

const notFound = 404;

export function About({ id }: { readonly id: string }) {
  return (
    <Card title="User">
      <Facts
        of={[
          ['Suppression', <Suppression key="suppression" id={id} />],
          ['Deletion requests', <Deletions key="deletions" id={id} />],
          ['Audiences', <AudiencesOf key="audiences" id={id} />],
        ]}
      />
    </Card>
  );
}

function Suppression({ id }: { readonly id: string }) {
  const { data, error, reload } = useGet('/v1/suppressions/{userId}', { path: { userId: id } });
  if (error && error.status !== notFound) return <ErrorNote error={error} onRetry={reload} />;
  if (data) {
    return (
      <>
        Suppressed since <Time at={data.since} />. Events are not delivered.
      </>
    );
  }
  return <None isLoading={!error}>Not suppressed.</None>;
}

function Deletions({ id }: { readonly id: string }) {
  const { data, error, reload } = useGet('/v1/deletions', { query: { userId: id } });
  if (error) return <ErrorNote error={error} onRetry={reload} />;
  if (!data || data.items.length === 0) return <None isLoading={!data}>None in force.</None>;
  return (
    <ul>
      {data.items.map((request) => (
        <li key={request.id}>
          <a href={hrefOf(['deletions', request.id])}>{request.id}</a>{' '}
          <span class="quiet">
            <Time at={request.createdAt} />
          </span>
        </li>
      ))}
    </ul>
  );
}

function AudiencesOf({ id }: { readonly id: string }) {
  const { data, error, reload } = useGet('/v1/users/{userId}/audiences', { path: { userId: id } });
  if (error) return <ErrorNote error={error} onRetry={reload} />;
  if (!data || (data.items.length === 0 && data.complete)) return <None isLoading={!data}>None.</None>;
  return (
    <>
      {data.items.map(({ sourceId, name }, nth) => (
        <span key={`${sourceId} ${name}`}>
          {nth > 0 && ', '}
          <a href={hrefOf(['audiences', sourceId])}>{name}</a> ({sourceId})
        </span>
      ))}
      {!data.complete && ' The search timed out, so there may be more.'}
    </>
  );
}

function None({
  isLoading,
  children,
}: {
  readonly isLoading: boolean;
  readonly children: ComponentChildren;
}) {
  return (
    <span class="quiet" aria-busy={isLoading}>
      {isLoading ? 'Loading …' : children}
    </span>
  );
}
