/** Why the transform of a destination failed, with the line. Only its dead letter has it. */
import { get, type Schema } from '../api/client.ts';
import { useResource } from '../api/resource.ts';

interface FailureProps {
  readonly of: Pick<Schema['Delivery'], 'deliveryId' | 'status' | 'reason'>;
}

export function TransformFailure({ of: { deliveryId: ref, status, reason } }: FailureProps) {
  const hasFailed = status === 'dead' && reason === 'transform-failed';
  const { data } = useResource(hasFailed ? `dead letter ${ref}` : null, (signal) =>
    get('/v1/dead-letters/{ref}', { path: { ref } }, signal),
  );
  const said = data?.items.at(-1)?.lastAnswer;
  return typeof said === 'string' ? <p class="breakable">{said}</p> : null;
}
