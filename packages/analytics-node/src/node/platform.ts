/** The platform of Node: standard error, and `DEBUG`. */
import { randomUUID } from 'node:crypto';
import type { Platform } from '../core/platform.ts';

export const nodePlatform: Platform = {
  byteLength: (text) => Buffer.byteLength(text),
  uuid: randomUUID,
  write: (line) => process.stderr.write(`${line}\n`),
  get debug() {
    return process.env['DEBUG'];
  },
};
