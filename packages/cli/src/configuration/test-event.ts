/** `tailrace test`: sends a sample event to a destination, and shows the requests and responses. */
import { styleText } from 'node:util';
import { openApi, pathOf } from '../api/client.ts';
import { exitCodes, UsageError, type Run } from '../command.ts';
import { printable } from '../terminal/table.ts';
import { testFilter } from './test-filter.ts';

interface Exchange {
  readonly request: {
    readonly url: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: unknown;
  };
  readonly response: {
    readonly status?: number;
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: string;
    readonly reason?: string;
    readonly detail?: string;
    readonly latencyMs?: number;
  };
}

interface Values {
  readonly destination: string;
  readonly type?: string;
  /** Counted from 1. */
  readonly webhook?: number;
  readonly filter?: string | true;
  readonly call?: string;
}

export const testDestination: Run<Values> = async (values, context) => {
  const { destination, type, webhook, filter, call } = values;
  if (filter !== undefined) {
    if (webhook !== undefined) throw new UsageError('--webhook and --filter exclude each other');
    return testFilter({ destination, filter, call, type }, context);
  }
  if (call !== undefined) throw new UsageError('--call requires --filter');
  const { items } = await openApi(context).send<{ items: readonly Exchange[] }>(
    'POST',
    pathOf('destinations', destination, 'test'),
    { type, ...(webhook !== undefined && { webhook: webhook - 1 }) },
  );
  const accepted = items.some(({ response: { status = 0 } }) => isSuccess(status));
  return {
    exitCode: accepted ? exitCodes.done : exitCodes.failed,
    text: items.flatMap((exchange, index) => [...(index > 0 ? [''] : []), ...linesOf(exchange)]),
    json: { items },
  };
};

function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

function linesOf({ request, response }: Exchange): string[] {
  const { status, reason, detail, latencyMs } = response;
  const answer =
    status === undefined
      ? styleText('red', printable(['no answer', reason, detail].filter(Boolean).join(': ')))
      : styleText(isSuccess(status) ? 'green' : 'red', String(status));
  return [
    styleText('bold', printable(`POST ${request.url}`)),
    ...headerLines(request.headers),
    ...bodyLines(request.body),
    `${styleText('bold', 'answer')}  ${answer}${latencyMs === undefined ? '' : `  ${Math.round(latencyMs)} ms`}`,
    ...headerLines(response.headers ?? {}),
    ...bodyLines(response.body ?? ''),
  ];
}

function headerLines(headers: Readonly<Record<string, string>>): string[] {
  return Object.entries(headers).map(([name, value]) => `  ${printable(`${name}: ${value}`)}`);
}

function bodyLines(body: unknown): string[] {
  if (body === '') return [];
  const text = typeof body === 'string' ? body : JSON.stringify(body, undefined, 2);
  return text.split('\n').map((line) => `  ${printable(line)}`);
}
