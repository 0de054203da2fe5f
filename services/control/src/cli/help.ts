/** The help of the CLI, of a group of commands, and of a command. */
import type { Command, OptionSpecs } from './command.ts';
import { commonOptions } from './parse.ts';

const widthOfLeftColumn = 22;

const settings = [
  'KAFKA_BROKERS, which must be set, KAFKA_SASL_MECHANISM, KAFKA_SASL_USERNAME, KAFKA_SASL_PASSWORD,',
  'KAFKA_SSL, KAFKA_SSL_CA, SCHEMA_REGISTRY_URL, TAILRACE_TOPIC_PREFIX, TAILRACE_PARTITIONS, TAILRACE_RETRY_SCHEDULE',
];

/** The help for what begins with `topic`: a command's name, a group's, or nothing for all. */
export function helpOn(topic: string, commands: readonly Command[]): string {
  const command = commands.find(({ name }) => name === topic);
  return (command ? helpOnCommand(command) : helpOnGroup(topic, commands)).join('\n');
}

function helpOnGroup(topic: string, commands: readonly Command[]): string[] {
  const shown = commands.filter(({ name }) => name.startsWith(topic));
  return [
    ...(topic === ''
      ? ['The topics, sources, destinations and dead letters of Tailrace, straight through Kafka.', '']
      : []),
    `Usage: ${['tailrace', topic, '<command> [options]'].filter(Boolean).join(' ')}`,
    '',
    'Commands:',
    ...shown.map(({ name, summary }) => twoColumns(name, summary)),
    '',
    'tailrace <command> --help tells more about one of them.',
    ...(topic === '' ? ['tailrace --version shows the version.'] : []),
    '',
    ...settingsAndExitCodes(),
  ];
}

function helpOnCommand({ name, summary, details, options }: Command): string[] {
  const required = Object.entries(options).flatMap(([option, spec]) =>
    spec.type === 'string' && spec.required
      ? [spec.positional ? spec.placeholder : `--${option} ${spec.placeholder}`]
      : [],
  );
  return [
    `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`,
    '',
    `Usage: ${['tailrace', name, ...required, '[options]'].join(' ')}`,
    '',
    ...details.flatMap((paragraph) => [paragraph, '']),
    'Options:',
    ...optionLines({ ...options, ...commonOptions }),
    '',
    ...settingsAndExitCodes(),
  ];
}

function optionLines(options: OptionSpecs): string[] {
  return Object.entries(options).map(([name, spec]) => {
    if (spec.type === 'string' && spec.positional) return twoColumns(spec.placeholder, spec.help);
    const short = 'short' in spec ? `-${spec.short}, ` : '';
    const value = spec.type === 'boolean' ? '' : ` ${spec.placeholder}`;
    const standard = spec.type === 'integer' ? ` (default ${spec.default})` : '';
    return twoColumns(`${short}--${name}${value}`, `${spec.help}${standard}`);
  });
}

function settingsAndExitCodes(): string[] {
  return [
    'Settings, from the environment:',
    ...settings.map((line) => `  ${line}`),
    '',
    'Exit codes: 0 done, 1 failed, 2 the command line or the settings are wrong, 130 interrupted.',
  ];
}

function twoColumns(left: string, right: string): string {
  return `  ${left.padEnd(widthOfLeftColumn)} ${right}`;
}
