/**
 * Defect: the library measures durations with `Date.now()`. Where the clock of the machine is set forward and then right again, it sends no
 * heartbeat until the time that it had been, and neither ends a throttling nor times out a request. The broker then removes the
 * member, which goes on without knowing it.
 *
 * Upstream: no issue found.
 *
 * Patch: durations are measured by a clock that cannot be set. The timestamps of records are in other files of the library, and in
 * writing/produce-request.ts.
 */
import type { Patch } from './apply.ts';

export const clock: Patch = {
  files: /\/kafkajs\/src\/(cluster|consumer|network)\//,
  before: 'const Date = { now: () => performance.now() };',
};
