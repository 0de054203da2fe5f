/**
 * The log file of a service. It is rotated to `.old` at the start and when it is too large, so there are at most
 * two files of `maxBytes`.
 */
import { closeSync, mkdirSync, openSync, renameSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';

export interface LogFile {
  readonly path: string;
  write(line: string): void;
  close(): void;
}

export function openLogFile(path: string, maxBytes = 20_000_000): LogFile {
  mkdirSync(dirname(path), { recursive: true });
  let size = 0;
  let fd: number | undefined;
  const begin = (): number => {
    try {
      renameSync(path, `${path}.old`);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
    size = 0;
    return openSync(path, 'a');
  };
  fd = begin();
  return {
    path,
    write(line) {
      if (fd === undefined) return;
      if (size > maxBytes) {
        closeSync(fd);
        fd = begin();
      }
      size += writeSync(fd, `${line}\n`);
    },
    close() {
      if (fd !== undefined) closeSync(fd);
      fd = undefined;
    },
  };
}
