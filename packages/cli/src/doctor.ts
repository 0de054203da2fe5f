/** `tailrace doctor`: looks at everything that has to be right, and says of what is not how to fix it. */
import { styleText } from 'node:util';
import { defineCommand, exitCodes } from './command.ts';
import { checkKafka } from './doctor-kafka.ts';
import { checkServices } from './doctor-services.ts';
import { checkSettings } from './doctor-settings.ts';
import { countOf, printable } from './table.ts';

export interface Finding {
  readonly level: 'ok' | 'warn' | 'fail';
  /** What was looked at: `topics`. */
  readonly about: string;
  readonly says: string;
  /** What to do about it. */
  readonly hint?: string;
}

const colours = { ok: 'green', warn: 'yellow', fail: 'red' } as const;

export const doctor = defineCommand({
  name: 'doctor',
  summary: 'check brokers, topics, lag, services, clocks and settings',
  details: [
    'Changes nothing. Run it with the settings of the services: some of what it checks is whether the two agree.\n' +
      'What fails makes the exit code 1; what is only doubtful does not.',
  ],
  examples: [
    'doctor',
    'doctor --output json',
    'doctor --ingest https://events.example.com --probe http://10.1.2.3:9465 --probe http://10.1.2.4:9466',
  ],
  through: 'both',
  options: {
    ingest: { type: 'string', placeholder: 'URL', help: 'where ingest is (default http://localhost:8080)' },
    probe: {
      type: 'list',
      placeholder: 'URL',
      help: "where a service has its probes (default: every service's standard port on localhost)",
    },
  },
  async run({ ingest, probe }, context) {
    const { terminal } = context;
    terminal.progress('Checking Kafka');
    const findings = [...checkSettings(context.env), ...(await checkKafka(context))];
    terminal.progress('Checking the services');
    findings.push(...(await checkServices(context, { ingest, probes: probe })));

    const of = (level: Finding['level']): number =>
      findings.filter((finding) => finding.level === level).length;
    const verdict = of('fail') > 0 ? countOf(of('fail'), 'failure') : 'Nothing fails';
    return {
      exitCode: of('fail') > 0 ? exitCodes.failed : exitCodes.done,
      text: [...findings.flatMap(linesOf), `${verdict}, ${countOf(of('warn'), 'warning')}.`],
      json: { findings },
    };
  },
});

function linesOf({ level, about, says, hint }: Finding): string[] {
  const indent = ' '.repeat(18);
  return [
    `${styleText(colours[level], level.padEnd(4))}  ${about.padEnd(10)}  ${printable(says)}`,
    ...(hint === undefined ? [] : [`${indent}${printable(hint)}`]),
  ];
}
