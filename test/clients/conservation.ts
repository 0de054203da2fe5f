/**
 * The account of a client library: each call that it accepted is stored by the server or reported, and not both, for
 * a server that fails in every way. The client is a program of its own, so that what it leaves behind is seen.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { eventually } from '@tailrace/testing';
import { isPoison, startFaultyService, type Fault } from './faulty-service.ts';

const run = promisify(execFile);

/** The last line of a program. */
export interface ProgramReport {
  readonly accepted: number;
  /** Calls that returned an error, or that the queue was full. */
  readonly refusedByCall: number;
  /** The result of close. */
  readonly unsent: number;
  /** The messageIds that were reported as unsent. */
  readonly reported: readonly string[];
  /** Timers, sockets and the like that are left after close, where the program can know them. */
  readonly left?: readonly string[];
  readonly peakMegabytes?: number;
}

export interface Account extends ProgramReport {
  readonly stored: number;
  readonly requests: number;
}

/** Runs the program with an endpoint and a number of calls, and checks its account. */
export async function checkConservation(
  command: readonly [string, ...string[]],
  fault: Fault,
  calls: number,
): Promise<Account> {
  await using service = await startFaultyService(fault);
  const [file, ...options] = command;
  const limits = { maxBuffer: 64 * 2 ** 20 };
  const { stdout } = await run(file, [...options, service.url, String(calls)], limits);
  const report = JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as ProgramReport;
  const { accepted, refusedByCall, unsent, reported, left = [] } = report;
  const { stored, requests } = service;

  assert.equal(accepted + refusedByCall, calls, 'each call is accepted or refused');
  assert.equal(new Set(reported).size, reported.length, 'each call is reported once');
  assert.equal(unsent, reported.length, 'close counts what was reported');
  const both = reported.filter((id) => stored.has(id));
  assert.deepEqual(both, [], 'no call is both stored and reported');
  assert.equal(stored.size + reported.length, calls, 'accepted = delivered + reported');
  if (fault === 'refuses') {
    assert.deepEqual(
      [...reported].sort(),
      idsOf(calls).filter(isPoison).sort(),
      'only what is always refused is reported',
    );
  } else assert.deepEqual(reported, []);
  assert.deepEqual(left, [], 'nothing is left after close');
  // The server learns of the end of a connection after the program has ended.
  await eventually(
    () => service.openConnections,
    (count) => count === 0,
  );
  return { ...report, stored: stored.size, requests };
}

const idsOf = (calls: number): string[] => Array.from({ length: calls }, (_, n) => `m-${n}`);
