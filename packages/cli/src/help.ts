/** The help of the CLI, of a group of commands, and of a command. */
import type { Command, OptionSpec, OptionSpecs, Way } from './command.ts';
import { commonOptions } from './parse.ts';

/** Commands that belong together, under a title. */
export interface Section {
  readonly title: string;
  readonly commands: readonly Command[];
}

const settingsOf: Readonly<Record<Exclude<Way, 'both' | 'neither'>, readonly string[]>> = {
  api: ['TAILRACE_API_TOKEN, which must be set, TAILRACE_URL (default http://localhost:8081)'],
  kafka: [
    'KAFKA_BROKERS, which must be set, KAFKA_SASL_MECHANISM, KAFKA_SASL_USERNAME, KAFKA_SASL_PASSWORD,',
    'KAFKA_SSL, KAFKA_SSL_CA, SCHEMA_REGISTRY_URL, TAILRACE_TOPIC_PREFIX, TAILRACE_PARTITIONS, TAILRACE_REPLICATION,',
    'TAILRACE_RETRY_SCHEDULE',
  ],
};

/** The help for what begins with `topic`: a command's name, a group's, or nothing for all. */
export function helpOn(topic: string, sections: readonly Section[]): string {
  const commands = sections.flatMap((section) => section.commands);
  const command = commands.find(({ name }) => name === topic);
  if (command) return helpOnCommand(command).join('\n');
  return (topic === '' ? helpOnAll(sections) : helpOnGroup(topic, commands)).join('\n');
}

function helpOnAll(sections: readonly Section[]): string[] {
  const width = widthOf(sections.flatMap(({ commands }) => commands.map(({ name }) => name)));
  return [
    'Tailrace: sources, destinations, and what becomes of events.',
    '',
    'Usage: tailrace <command> [options]',
    ...sections.flatMap(({ title, commands }) => [
      '',
      `${title}:`,
      ...commands.map(({ name, summary }) => twoColumns(name, summary, width)),
    ]),
    '',
    'tailrace <command> --help tells more about one of them.',
    'tailrace --version shows the version.',
    '',
    ...settingsAndExitCodes('both'),
  ];
}

function helpOnGroup(topic: string, commands: readonly Command[]): string[] {
  const shown = commands.filter(({ name }) => name.startsWith(`${topic} `));
  const width = widthOf(shown.map(({ name }) => name));
  return [
    `Usage: tailrace ${topic} <command> [options]`,
    '',
    'Commands:',
    ...shown.map(({ name, summary }) => twoColumns(name, summary, width)),
    '',
    'tailrace <command> --help tells more about one of them.',
    '',
    ...settingsAndExitCodes(
      shown.every(({ through }) => through === shown[0]?.through) ? shown[0]?.through : 'both',
    ),
  ];
}

function helpOnCommand({ name, summary, details, examples, options, through }: Command): string[] {
  const required = Object.entries(options).flatMap(([option, spec]) => usageOf(option, spec));
  return [
    `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`,
    '',
    `Usage: ${['tailrace', name, ...required, '[options]'].join(' ')}`,
    '',
    ...details.flatMap((paragraph) => [paragraph, '']),
    'Options:',
    ...optionLines({ ...options, ...commonOptions }),
    '',
    'Examples:',
    ...examples.map((example) => `  tailrace ${example}`),
    '',
    ...settingsAndExitCodes(through),
  ];
}

/** How an option stands in the line that shows how to call its command; the optional ones do not. */
function usageOf(name: string, spec: OptionSpec): string[] {
  if (spec.type !== 'string' && spec.type !== 'list') return [];
  const value = `${spec.placeholder}${spec.type === 'list' ? '...' : ''}`;
  if (spec.positional) return [spec.required ? value : `[${value}]`];
  return spec.required ? [`--${name} ${value}`] : [];
}

function optionLines(options: OptionSpecs): string[] {
  const rows = Object.entries(options).map(([name, spec]): [string, string] => {
    if ('positional' in spec) return [spec.placeholder, spec.help];
    const short = 'short' in spec ? `-${spec.short}, ` : '';
    const value = spec.type === 'boolean' ? '' : ` ${spec.placeholder}`;
    const standard = 'default' in spec ? ` (default ${spec.default})` : '';
    return [`${short}--${name}${value}`, `${spec.help}${standard}`];
  });
  const width = widthOf(rows.map(([left]) => left));
  return rows.map(([left, right]) => twoColumns(left, right, width));
}

function settingsAndExitCodes(through: Way = 'both'): string[] {
  const lines = [
    ...(through === 'api' || through === 'both' ? settingsOf.api : []),
    ...(through === 'kafka' || through === 'both' ? settingsOf.kafka : []),
  ];
  return [
    ...(lines.length > 0 ? ['Settings, from the environment:', ...lines.map((line) => `  ${line}`), ''] : []),
    'Exit codes: 0 done, 1 failed, 2 the command line or the settings are wrong, 130 interrupted.',
  ];
}

function widthOf(texts: readonly string[]): number {
  return Math.max(...texts.map(({ length }) => length));
}

function twoColumns(left: string, right: string, width: number): string {
  return `  ${left.padEnd(width)}  ${right}`;
}
