/**
 * Defect: one partition without a leader makes the library reject the metadata of all topics, so nothing can be read or written until the
 * partition has one.
 *
 * Upstream: tulios/kafkajs#639, closed without a change.
 *
 * Patch: errors of partitions are left out of the metadata (version 6). A partition without a leader has the leader -1, and requests for it
 * fail by themselves.
 */
import { replacing } from '../apply.ts';

interface Metadata {
  readonly topicMetadata: readonly { readonly partitionMetadata: { partitionErrorCode: number }[] }[];
}

interface Response {
  readonly parse: (metadata: Metadata) => Promise<Metadata>;
}

export const metadata = replacing('protocol/requests/metadata/v6/response', (original: Response) => ({
  ...original,
  parse: (found: Metadata) => {
    for (const { partitionMetadata } of found.topicMetadata) {
      for (const partition of partitionMetadata) partition.partitionErrorCode = 0;
    }
    return original.parse(found);
  },
}));
