#!/usr/bin/env -S node --disable-warning=TimeoutNegativeWarning --max-semi-space-size=16 --max-old-space-size=512
/**
 * Starts one service in this process: `services/start.ts ingest`. Images, compose, `npm start`, the npm scripts, tests and
 * benches start services with this file, so the first line is the only place with the flags of Node:
 *
 * - The Kafka client sets timers in the past, and Node would warn of each.
 * - By default V8 gives young objects up to 128 MB on a large machine. Here they die long before 32 MB are full.
 * - Near its limit V8 collects more often: with a backlog, delivery takes 230 MiB and not 330, for the same CPU time.
 *
 * `env` replaces itself with Node, so the service has the process id that was started and receives its signals, also as
 * process 1 of a container. For other flags: `node --max-old-space-size=1024 services/start.ts ingest`.
 */
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

/** EX_USAGE of sysexits.h. */
const wrongUsage = 64;

const mainOf = (service: string): string => path.join(import.meta.dirname, service, 'src', 'main.ts');
/** An image contains only its own service. */
const services = readdirSync(import.meta.dirname).filter((name) => existsSync(mainOf(name)));
const [service = '', ...rest] = process.argv.slice(2);

if (!services.includes(service) || rest.length > 0) {
  process.stderr.write(
    `services/start.ts takes the name of one service, and got: ${[service, ...rest].join(' ') || 'nothing'}.\n` +
      `Services here: ${services.join(', ')}. Their settings are environment variables.\n`,
  );
  process.exit(wrongUsage);
}
// A URL: in a path, `#`, `?` and `%` would have another meaning.
await import(pathToFileURL(mainOf(service)).href);
