#!/usr/bin/env node
import { enableCompileCache } from 'node:module';
import { styleText } from 'node:util';
import { processTerminal } from './terminal/terminal.ts';

// Compiling takes a third of the start without the cache.
enableCompileCache();
const { runCli } = await import('./run.ts');

// kafkajs computes negative timeouts. Node 24 uses 1 ms for them, as intended, and emits a warning.
const warn = process.listeners('warning');
process.removeAllListeners('warning').on('warning', (warning) => {
  if (warning.name !== 'TimeoutNegativeWarning') for (const listener of warn) listener(warning);
});

// The reader of a pipe ended, as in `tailrace tail | head`.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(0);
});

// Where Kafka does not respond, attempts to connect would keep the process alive for seconds.
process.exit(
  await runCli({
    argv: process.argv.slice(2),
    env: process.env,
    out: (line) => process.stdout.write(`${line}\n`),
    outBytes: (bytes) => process.stdout.write(bytes),
    err: (line) => process.stderr.write(`${line}\n`),
    input: () => process.stdin,
    terminal: processTerminal(),
    width: process.stdout.columns,
    // Not if standard output is no terminal, or if NO_COLOR is set.
    colours: styleText('bold', '') !== '',
  }),
);
