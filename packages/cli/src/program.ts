/** The command lines of the CLI, as a tree of commander commands. */
import { Command, Help, type Option, type OutputConfiguration } from 'commander';
import packageJson from '../package.json' with { type: 'json' };
import { declareAccess } from './access/commands.ts';
import { declareAudiences } from './audiences/commands.ts';
import { declareCompletion } from './completion/commands.ts';
import { declareConfiguration } from './configuration/commands.ts';
import { declareChanges } from './configuration/change-commands.ts';
import { declareUpdates } from './update/commands.ts';
import { declareDeadLetters } from './dead-letters/commands.ts';
import { choice, type Declare, type MakeAction } from './declare.ts';
import { declareDoctor } from './doctor/commands.ts';
import { declareExport } from './export/commands.ts';
import { declareHistory } from './history/commands.ts';
import { declarePermissions } from './permissions/commands.ts';
import { declareRecall } from './recall/commands.ts';
import { declareTopics } from './topics/commands.ts';
import { declareUsers } from './users/commands.ts';

/** The sections of `tailrace --help`. */
const sections: readonly (readonly [heading: string, ...declare: Declare[]])[] = [
  ['System:', declareTopics, declarePermissions, declareDoctor, declareCompletion],
  ['Configuration:', declareConfiguration, declareUpdates, declareChanges, declareExport],
  ['History:', declareHistory],
  ['Pending deliveries:', declareRecall],
  ['Dead letters:', declareDeadLetters],
  ['Users:', declareUsers, declareAudiences],
  ['Access:', declareAccess],
];

/** @param argv the command line that the program will parse; without it, values with a leading dash are not checked */
export function buildProgram(
  action: MakeAction,
  output: OutputConfiguration = {},
  argv: readonly string[] = [],
): Command {
  const program = new Command('tailrace')
    .description(
      'Operate Tailrace: topics, sources, destinations, deliveries, dead letters, users and tokens.',
    )
    .configureOutput(output)
    .exitOverride()
    .enablePositionalOptions()
    .helpOption('-h, --help', 'show this help')
    .configureHelp({ subcommandTerm: termOf })
    .version(packageJson.version, '--version', 'show the version')
    .addHelpText('after', '\nRun "tailrace <command> --help" for the options of a command.');
  for (const [heading, ...declarations] of sections) {
    program.commandsGroup(heading);
    for (const declare of declarations) declare(program, action);
  }
  finish(program, 'tailrace', argv);
  return program;
}

/** A command in the list of its group, without `[options]`. */
function termOf(command: Command): string {
  return new Help().subcommandTerm(command).replace(' [options]', '');
}

/** Adds the options and checks that all commands share. */
function finish(command: Command, path: string, argv: readonly string[]): void {
  command.showHelpAfterError(`See ${path} --help.`);
  if (command.description() === '') command.description(sentenceOf(command.summary()));
  for (const subcommand of command.commands) finish(subcommand, `${path} ${subcommand.name()}`, argv);
  if (command.commands.length > 0) {
    command.helpCommand(false).usage('<command> [options]');
    return;
  }
  command
    .addOption(
      choice('-o, --output <format>', 'format of the result', ['text', 'json', 'yaml']).default('text'),
    )
    .option('--verbose', 'write the log of the Kafka client to standard error');
  checkValues(command, argv);
}

function sentenceOf(summary: string): string {
  return `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`;
}

/**
 * Rejects values that commander accepts and that are mistakes here: an empty value (an unset shell variable), the
 * next word if it begins with a dash (an option, perhaps misspelled; `--name=-x` is accepted), and a second value of
 * an option that takes one.
 */
function checkValues(command: Command, argv: readonly string[]): void {
  const given = new Set<string>();
  for (const option of command.options.filter(({ required }) => required)) {
    const isRepeatable = option.description.endsWith('(repeatable)');
    command.on(`option:${option.name()}`, (value: string) => {
      if (value === '') command.error(`error: option '${option.flags}' needs a value`);
      if (/^-./.test(value) && isNextWord(argv, option, value)) {
        const inline = `${option.long ?? ''}=${value}`;
        command.error(
          `error: option '${option.flags}' needs a value; if it begins with a dash, use ${inline}`,
        );
      }
      if (given.has(option.name()) && !isRepeatable) {
        command.error(`error: option '${option.flags}' is given more than once`);
      }
      given.add(option.name());
    });
  }
}

function isNextWord(argv: readonly string[], { short, long }: Option, value: string): boolean {
  return argv.some((word, index) => argv[index + 1] === value && (word === short || word === long));
}
