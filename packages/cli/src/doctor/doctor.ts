/** `tailrace doctor`: checks the whole installation, and says how to fix problems. */
import { styleText } from 'node:util';
import { exitCodes, type Run } from '../command.ts';
import { countOf, printable } from '../terminal/table.ts';
import type { Finding } from './finding.ts';
import { checkKafka } from './kafka.ts';
import { checkServices } from './services.ts';
import { checkSettings } from './settings.ts';

const colours = { ok: 'green', warn: 'yellow', fail: 'red' } as const;

interface Values {
  readonly ingest?: string;
  readonly probe?: readonly string[];
}

export const doctor: Run<Values> = async ({ ingest, probe: probes }, context) => {
  const { terminal } = context;
  terminal.progress('Checking Kafka');
  const findings = [...checkSettings(context.env), ...(await checkKafka(context))];
  terminal.progress('Checking the services');
  findings.push(...(await checkServices(context, { ingest, probes })));

  const count = (level: Finding['level']): number =>
    findings.filter((finding) => finding.level === level).length;
  const failures = count('fail');
  const verdict = failures > 0 ? countOf(failures, 'failure') : 'No failures';
  return {
    exitCode: failures > 0 ? exitCodes.failed : exitCodes.done,
    text: [...findings.flatMap(linesOf), `${verdict}, ${countOf(count('warn'), 'warning')}.`],
    json: { findings },
  };
};

function linesOf({ level, about, says, hint }: Finding): string[] {
  const indent = ' '.repeat(18);
  return [
    `${styleText(colours[level], level.padEnd(4))}  ${about.padEnd(10)}  ${printable(says)}`,
    ...(hint === undefined ? [] : [`${indent}${printable(hint)}`]),
  ];
}
