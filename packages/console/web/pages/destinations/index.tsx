import type { PageProps } from '../../url/location.ts';
import { CreateDestination } from './create.tsx';
import { DestinationPage } from './destination.tsx';
import { DestinationList } from './list.tsx';

export default function Destinations({ steps, query }: PageProps) {
  const [id] = steps;
  if (id === undefined) return <DestinationList query={query} />;
  // An id cannot contain a plus sign, so no destination has this address.
  if (id === '+new') return <CreateDestination query={query} />;
  return <DestinationPage id={id} query={query} />;
}
