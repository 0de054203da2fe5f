/** The sample of a destination: a hash decides, so that a user, or a repeated event, is in or out for good. */
import { hash } from 'node:crypto';
import type { Sample } from '@tailrace/config';
import type { FilterRule } from './filter/condition.ts';

/** The part of an event that samples look at. */
export interface SampledEvent {
  /** The userId, else the anonymousId. */
  readonly user: string;
  /** The messageId. */
  readonly id: string;
}

/** The rule of a sample that an event is not in; undefined where the destination gets it. */
export type CompiledSample = (event: SampledEvent) => FilterRule | undefined;

/** @param destinationId makes the samples of destinations independent of each other */
export function compileSample({ percent, by = 'user' }: Sample, destinationId: string): CompiledSample {
  const below = (percent / 100) * 2 ** 32;
  const rule = { path: 'sample', text: `${percent} % by ${by}` };
  return ({ user, id }) => {
    const digest = hash('sha256', `${destinationId}/${by === 'user' ? user : id}`, 'buffer');
    return digest.readUInt32BE() < below ? undefined : rule;
  };
}
