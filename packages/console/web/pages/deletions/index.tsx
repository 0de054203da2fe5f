/** Deletion requests: list and create; one of them with its progress. */
import type { PageProps } from '../../url/location.ts';
import { DeletionList } from './list.tsx';
import { DeletionPage } from './deletion.tsx';

export default function Deletions({ steps }: PageProps) {
  const [id] = steps;
  return id === undefined ? <DeletionList /> : <DeletionPage id={id} />;
}
