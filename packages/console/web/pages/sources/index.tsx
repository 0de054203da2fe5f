import type { PageProps } from '../../url/location.ts';
import { CreateSource } from './create.tsx';
import { SourceList } from './list.tsx';
import { SourcePage } from './source.tsx';

export default function Sources({ steps, query }: PageProps) {
  const [id] = steps;
  if (id === undefined) return <SourceList query={query} />;
  // An id cannot contain a plus sign, so no source has this address.
  if (id === '+new') return <CreateSource />;
  return <SourcePage id={id} query={query} />;
}
