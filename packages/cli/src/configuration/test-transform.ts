/** `tailrace test --transform`: runs a transform on a call. Nothing is sent. */
import { styleText } from 'node:util';
import type { Schema } from '@tailrace/api';
import { parseJson } from '@tailrace/events';
import type { ApiContext } from '../api/client.ts';
import { pathOf } from '../api/path.ts';
import { exitCodes, UsageError, type Outcome } from '../command.ts';
import { readText } from '../read-text.ts';
import { jsonText, printable } from '../terminal/table.ts';
import { triedCall, type CallValues } from './tried-call.ts';

export interface TransformValues extends CallValues {
  readonly destination: string;
  /** A file, or true for the transform of the destination. */
  readonly transform: string | true;
}

type Result = Schema['TransformTestResult'];
type Context = Pick<ApiContext, 'api' | 'input'>;

export async function testTransform(values: TransformValues, context: Context): Promise<Outcome> {
  const { destination, transform } = values;
  if (transform === '-' && values.call === '-') {
    throw new UsageError('only one of --transform and --call can be -');
  }
  const code = transform === true ? undefined : await readCode(transform, context);
  const path = pathOf('destinations', destination, 'transform', 'test');
  const body = { code, ...(await triedCall(values, context)) };
  const tested = await context.api.send<Result>('POST', path, body);
  const { outcome, error, logs, cpuMs } = tested;
  const source = error?.line === undefined ? undefined : (code ?? (await storedCode(destination, context)));
  return {
    exitCode: outcome === 'failed' ? exitCodes.failed : exitCodes.done,
    text: [
      ...resultLines(tested),
      ...excerptOf(source, error?.line),
      ...logs.flatMap((log) => log.split('\n')).map((line) => `log  ${shown(line)}`),
      `${cpuMs} ms of CPU time`,
    ],
    json: tested,
  };
}

/** @throws UsageError */
async function readCode(file: string, context: Context): Promise<string> {
  try {
    return await readText(file, context);
  } catch (error) {
    throw new UsageError(`${file}: ${(error as Error).message}`);
  }
}

async function storedCode(destination: string, { api }: Context): Promise<string | undefined> {
  return (await api.get<Schema['Destination']>(pathOf('destinations', destination))).transform?.code;
}

function resultLines({ outcome, body = '', headers = {}, url, error }: Result): string[] {
  switch (outcome) {
    case 'body':
      return [
        ...jsonText(parseJson(body), 2).split('\n'),
        ...Object.entries(headers).map(([name, value]) => shown(`${name}: ${value}`)),
        ...(url === undefined ? [] : [`Only URL ${url + 1} gets it.`]),
      ];
    case 'filtered':
      return ['The transform returned null: the destination does not get the event.'];
    case 'failed': {
      const where = error?.line === undefined ? '' : ` in line ${error.line}`;
      return [styleText('red', shown(`The transform failed${where}: ${error?.message ?? ''}`))];
    }
  }
}

/** The line, and those around it. */
function excerptOf(source = '', line = -Infinity): string[] {
  const around = 2;
  return source.split('\n').flatMap((text, index) => {
    const number = index + 1;
    if (Math.abs(number - line) > around) return [];
    return [`${number === line ? '>' : ' '} ${String(number).padStart(4)} | ${shown(text)}`];
  });
}

function shown(text: string): string {
  return printable(text.replaceAll('\t', '  '));
}
