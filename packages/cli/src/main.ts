#!/usr/bin/env node
import { enableCompileCache } from 'node:module';
import { ofProcess } from './terminal.ts';

// A third of a start is compiling what was compiled at the last one.
enableCompileCache();
const { runCli } = await import('./run.ts');

// The Kafka client computes timeouts below zero, which Node 24 warns of and takes as 1 ms, as was meant.
const warn = process.listeners('warning');
process.removeAllListeners('warning').on('warning', (warning) => {
  if (warning.name !== 'TimeoutNegativeWarning') for (const listener of warn) listener(warning);
});

// Whoever reads the output has had enough of it: `tailrace tail | head`.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(0);
});

// Not left to the event loop: a connection that cannot be made must not keep the command from ending.
process.exit(
  await runCli({
    argv: process.argv.slice(2),
    env: process.env,
    out: (line) => process.stdout.write(`${line}\n`),
    outBytes: (bytes) => process.stdout.write(bytes),
    err: (line) => process.stderr.write(`${line}\n`),
    input: () => process.stdin,
    terminal: ofProcess(),
  }),
);
