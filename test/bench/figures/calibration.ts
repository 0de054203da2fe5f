import { createHash } from 'node:crypto';
import { median } from './statistics.ts';

const rounds = 5;
const repeats = 400;
const document = JSON.stringify(
  Array.from({ length: 300 }, (_, nth) => ({ id: nth, name: `name ${nth}`, price: nth / 7 })),
);

/** The CPU time of a fixed amount of work, in milliseconds. It tells whether figures of two hours come from the same machine. */
export function calibrate(): number {
  const costs: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const before = process.cpuUsage();
    for (let nth = 0; nth < repeats; nth += 1) {
      createHash('sha256')
        .update(JSON.stringify(JSON.parse(document)))
        .digest();
    }
    const { user, system } = process.cpuUsage(before);
    costs.push((user + system) / 1_000);
  }
  return median(costs);
}
