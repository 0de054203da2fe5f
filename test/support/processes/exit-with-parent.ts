/**
 * Preloaded into every service that a test starts, and into the programs between them, such as npm: ends the process when the
 * one that started it has ended in any way. Nothing of it keeps the process alive.
 */
import { isMainThread } from 'node:worker_threads';

const parent = process.ppid;
const checkEveryMs = 250;

if (process.channel) {
  process.on('disconnect', () => process.exit(1));
  process.channel.unref();
} else if (isMainThread) {
  // A program between, such as npm, passes on no channel. The system gives an orphan another parent.
  setInterval(() => {
    if (process.ppid !== parent) process.exit(1);
  }, checkEveryMs).unref();
}
