/** `tailrace test`: sends a test event to a destination, and shows the requests and responses. */
import { styleText } from 'node:util';
import type { Schema } from '@tailrace/api';
import type { ApiContext } from '../api/client.ts';
import { pathOf } from '../api/path.ts';
import { exitCodes, UsageError, type Outcome } from '../command.ts';
import { printable } from '../terminal/table.ts';
import { readData } from './data-file.ts';
import { testFilter } from './test-filter.ts';

interface Values {
  readonly destination: string;
  readonly type?: string;
  /** Counted from 1. */
  readonly webhook?: number;
  readonly filter?: string | true;
  /** A file. */
  readonly call?: string;
}

export async function testDestination(values: Values, context: ApiContext): Promise<Outcome> {
  const { destination, type, webhook, filter, call } = values;
  if (call !== undefined && type !== undefined) throw new UsageError('--call and --type exclude each other');
  if (filter !== undefined) {
    if (webhook !== undefined) throw new UsageError('--webhook and --filter exclude each other');
    return testFilter({ destination, filter, call, type }, context);
  }
  const { items } = await context.api.send<{ items: readonly Schema['TestResult'][] }>(
    'POST',
    pathOf('destinations', destination, 'test'),
    {
      type,
      ...(call !== undefined && { call: await readData(call, context) }),
      ...(webhook !== undefined && { webhook: webhook - 1 }),
    },
  );
  const accepted = items.some(({ response: { status = 0 } }) => isSuccess(status));
  return {
    exitCode: accepted ? exitCodes.done : exitCodes.failed,
    text: items.flatMap((exchange, index) => [...(index > 0 ? [''] : []), ...linesOf(exchange)]),
    json: { items },
  };
}

function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

function linesOf({ request, response }: Schema['TestResult']): string[] {
  const { status, reason, detail, latencyMs, headers = {}, body = '' } = response;
  const answer =
    status === undefined
      ? styleText('red', printable(['no answer', reason, detail].filter(Boolean).join(': ')))
      : styleText(isSuccess(status) ? 'green' : 'red', String(status));
  return [
    styleText('bold', printable(`POST ${request.url}`)),
    ...partLines(request.headers, request.body),
    `${styleText('bold', 'answer')}  ${answer}  ${Math.round(latencyMs)} ms`,
    ...partLines(headers, body),
  ];
}

function partLines(headers: Readonly<Record<string, string>>, body: string): string[] {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return [...lines, ...(body === '' ? [] : body.split('\n'))].map((line) => `  ${printable(line)}`);
}
