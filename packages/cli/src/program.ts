/** The command lines of the CLI, as a tree of commander commands. */
import { Argument, Command, Help, type Option, type OutputConfiguration } from 'commander';
import packageJson from '../package.json' with { type: 'json' };
import { accessCommands } from './access/commands.ts';
import { audienceCommands } from './audiences/commands.ts';
import type { Run } from './command.ts';
import { completion } from './completion/commands.ts';
import { changeCommands } from './configuration/change-commands.ts';
import { configurationCommands } from './configuration/commands.ts';
import { deadLetterCommands } from './dead-letters/commands.ts';
import { recoveryCommands } from './dead-letters/control-commands.ts';
import { eventReplayCommands } from './dead-letters/event-commands.ts';
import { choice, isGroup, withDefault, type Declared } from './declare.ts';
import { doctor } from './doctor/commands.ts';
import { exportCommands } from './export/commands.ts';
import { notes } from './help.ts';
import { historyCommands } from './history/commands.ts';
import { issueCommands } from './history/issues.ts';
import { notificationCommands } from './notifications/commands.ts';
import { permissions } from './permissions/commands.ts';
import { recallCommands } from './recall/commands.ts';
import { topicCommands } from './topics/commands.ts';
import { updateCommands } from './update/commands.ts';
import { userCommands } from './users/commands.ts';

/** The sections of `tailrace --help`. */
const sectionsOf = (
  program: Command,
): readonly (readonly [heading: string, ...(readonly Declared[])[]])[] => [
  ['System:', topicCommands, [permissions, doctor, completion(program)]],
  ['Configuration:', configurationCommands, updateCommands, changeCommands, exportCommands],
  ['Notifications:', notificationCommands],
  ['History:', historyCommands, issueCommands],
  ['Pending deliveries:', recallCommands],
  ['Dead letters and replays:', deadLetterCommands, recoveryCommands, eventReplayCommands],
  ['Users:', userCommands, audienceCommands],
  ['Access:', accessCommands],
];

/** What the commands below a word have in common. */
const groups = {
  topics: 'create, extend and list the Kafka topics',
  get: 'list or show sources, destinations, deliveries and more',
  create: 'create a source, a destination, a notification, a write key or a token',
  update: 'change fields of a source, a destination or a notification',
  edit: 'edit a source, a destination or a notification in $EDITOR',
  enable: 'enable a source, a destination or a notification',
  disable: 'disable a source, a destination or a notification',
  pause: 'let the deliveries of a destination, or a replay, wait',
  resume: 'continue a paused destination or replay',
  rotate: 'make a new secret for a destination',
  delete: 'delete a source, a destination, a notification or a write key',
  config: 'export, verify and import the whole configuration',
  dead: 'list, show and replay dead letters',
  recover: 'replay the failures of a destination',
  interrupt: 'interrupt a replay of the control service',
  issue: 'acknowledge, dismiss and reopen issues',
  user: 'delete and suppress users',
  audience: 'sync, list and delete audiences',
  revoke: 'revoke a token of the API',
};

/** Makes the action of a command from what it does. */
export type MakeAction = (run: Run<never>) => (...given: unknown[]) => Promise<void>;

/** @param argv the command line that the program will parse; without it, values with a leading dash are not checked */
export function buildProgram(
  action: MakeAction,
  streams: OutputConfiguration = {},
  argv: readonly string[] = [],
): Command {
  const program = new Command('tailrace')
    .description(
      'Operate Tailrace: topics, sources, destinations, deliveries, dead letters, users and tokens.',
    )
    .configureOutput(streams)
    .exitOverride()
    .enablePositionalOptions()
    .helpOption('-h, --help', 'show this help')
    .configureHelp({ subcommandTerm: termOf })
    .version(packageJson.version, '--version', 'show the version')
    .addHelpText('after', '\nRun "tailrace <command> --help" for the options of a command.');
  for (const [heading, ...lists] of sectionsOf(program)) {
    program.commandsGroup(heading);
    for (const declared of lists.flat()) addCommand(program, declared).action(action(declared.run));
  }
  for (const [name, summary] of Object.entries(groups)) group(program, name).summary(summary);
  finish(program, 'tailrace', argv);
  return program;
}

/** Adds the command to the program, below the groups that its words name. */
function addCommand(program: Command, declared: Declared): Command {
  const words = declared.words.split(' ');
  const parent = words.slice(0, -1).reduce(group, program);
  const added = parent
    .command(words.at(-1) ?? '')
    .summary(declared.summary)
    .description(declared.description)
    .addHelpText(
      'after',
      notes({ ...declared, times: 'since' in declared.options || 'from' in declared.options }),
    );
  for (const [form, about] of Object.entries(declared.arguments)) {
    if (typeof about === 'string') added.argument(form, about);
    else added.addArgument(new Argument(form, about.about).choices(about.choices));
  }
  for (const [name, option] of Object.entries(declared.options)) {
    added.addOption(option.named(`--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`));
  }
  return added;
}

/** The subcommands of `parent` under the word `name`, such as `get`. */
function group(parent: Command, name: string): Command {
  return parent.commands.find((one) => one.name() === name) ?? parent.command(name);
}

const output = withDefault(choice('<format>', 'format of the result', ['text', 'json', 'yaml']), 'text');

/** A command in the list of its group, without `[options]`. */
function termOf(command: Command): string {
  return new Help().subcommandTerm(command).replace(' [options]', '');
}

/** Adds the options and checks that all commands share. */
function finish(command: Command, path: string, argv: readonly string[]): void {
  command.showHelpAfterError(`See ${path} --help.`);
  if (command.description() === '') command.description(sentenceOf(command.summary()));
  for (const subcommand of command.commands) finish(subcommand, `${path} ${subcommand.name()}`, argv);
  if (command.commands.length > 0) command.helpCommand(false);
  if (isGroup(command)) {
    command.usage('<command> [options]');
    return;
  }
  command
    .addOption(output.named('-o, --output'))
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
