/** `tailrace test`: sends a sample to a destination now, and shows the request and the answer. */
import { styleText } from 'node:util';
import { openApi, pathOf } from './api.ts';
import { defineCommand, exitCodes } from './command.ts';
import { printable } from './table.ts';

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

export const testEvent = defineCommand({
  name: 'test',
  summary: 'send a sample to a destination, and show the answer',
  details: [
    'Sends one request to each URL, or to one of them, now and once. It is no event: nothing of it is counted, kept or\n' +
      'repeated. The exit code is 1 unless a URL takes it with 2xx.',
  ],
  examples: ['test crm', 'test crm --type identify', 'test crm --type delete --webhook 1'],
  through: 'api',
  options: {
    destination: {
      type: 'string',
      positional: true,
      required: true,
      placeholder: 'DESTINATION',
      help: "the destination's id",
    },
    type: {
      type: 'string',
      placeholder: 'TYPE',
      choices: ['track', 'identify', 'page', 'screen', 'group', 'alias', 'delete'],
      help: 'the type of call (default track)',
    },
    webhook: {
      type: 'integer',
      placeholder: 'N',
      min: 1,
      max: 5,
      help: 'only the Nth of its URLs, counted from 1',
    },
  },
  async run({ destination, type, webhook }, context) {
    const { items } = await openApi(context).send<{ items: readonly Exchange[] }>(
      'POST',
      pathOf('destinations', destination, 'test'),
      { type, ...(webhook !== undefined && { webhook: webhook - 1 }) },
    );
    const taken = items.some(({ response: { status = 0 } }) => status >= 200 && status < 300);
    return {
      exitCode: taken ? exitCodes.done : exitCodes.failed,
      text: items.flatMap((exchange, index) => [...(index > 0 ? [''] : []), ...linesOf(exchange)]),
      json: { items },
    };
  },
});

function linesOf({ request, response }: Exchange): string[] {
  const { status, reason, detail, latencyMs } = response;
  const answer =
    status === undefined
      ? styleText('red', printable(['no answer', reason, detail].filter(Boolean).join(': ')))
      : styleText(status >= 200 && status < 300 ? 'green' : 'red', String(status));
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
