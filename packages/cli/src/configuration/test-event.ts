/** `tailrace test`: sends a test event to a destination, and shows the requests and responses. With --filter or --transform nothing is sent. */
import { styleText } from 'node:util';
import type { Schema } from '@tailrace/api';
import type { ApiContext } from '../api/client.ts';
import { pathOf } from '../api/path.ts';
import { exitCodes, UsageError, type Outcome } from '../command.ts';
import { printable } from '../terminal/table.ts';
import { testFilter } from './test-filter.ts';
import { testTransform } from './test-transform.ts';
import { triedCall, type CallValues } from './tried-call.ts';

interface Values extends CallValues {
  readonly destination: string;
  /** Counted from 1. */
  readonly webhook?: number;
  readonly filter?: string | true;
  readonly transform?: string | true;
}

export async function testDestination(values: Values, context: ApiContext): Promise<Outcome> {
  const { destination, webhook, filter, transform, ...tried } = values;
  exclude({ '--call': tried.call, '--event': tried.event, '--type': tried.type });
  exclude({ '--webhook': webhook, '--filter': filter, '--transform': transform });
  if (filter !== undefined) return testFilter({ destination, filter, ...tried }, context);
  if (transform !== undefined) return testTransform({ destination, transform, ...tried }, context);
  const { items } = await context.api.send<{ items: readonly Schema['TestResult'][] }>(
    'POST',
    pathOf('destinations', destination, 'test'),
    {
      ...(await triedCall(tried, context)),
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

/** @throws UsageError where more than one of the options is given */
function exclude(options: Readonly<Record<string, unknown>>): void {
  const given = Object.keys(options).filter((name) => options[name] !== undefined);
  if (given.length > 1) throw new UsageError(`${given.join(' and ')} exclude each other`);
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
