/** docs/cli.md: the commands by name, in the groups of `tailrace --help`, which says what each does. */
import type { Command } from 'commander';
import { isGroup } from '../../packages/cli/src/declare.ts';
import { buildProgram } from '../../packages/cli/src/program.ts';

const introduction = `# Command line

All commands of \`tailrace\`. [packages/cli](../packages/cli/README.md) explains common tasks. This page is generated from the command line: run
\`npm run docs:cli\` after a change.

- **Help**: \`tailrace --help\` says what each command does. \`tailrace <command> --help\` has the options, examples and environment variables of one.
- **Output**: results go to standard output as text, as JSON with \`-o json\`, or as YAML with \`-o yaml\`. Everything else goes to standard error.
- **Exit codes**: 0 done, 1 failed, 2 invalid command line or settings, 130 interrupted. The help of a command names others that it has.
- **Environment**: commands that use the management API read \`TAILRACE_URL\` and \`TAILRACE_API_TOKEN\`, those that use Kafka \`KAFKA_BROKERS\`;
  \`--help\` says which. [Settings](settings.md#command-line) has all variables.
`;

export function cliPage(): string {
  const groups = new Map<string, string[]>();
  for (const command of buildProgram(() => () => Promise.resolve()).commands) {
    const heading = command.helpGroup().replace(/:$/, '');
    groups.set(heading, [...(groups.get(heading) ?? []), ...namesOf(command)]);
  }
  const sections = [...groups].map(([heading, names]) => `## ${heading}\n\n${names.join(', ')}\n`);
  return [introduction, ...sections].join('\n');
}

/** The command, and each command below it. */
function namesOf(command: Command, parent: readonly string[] = []): string[] {
  const below = command.commands.flatMap((one) => namesOf(one, [...parent, command.name()]));
  if (isGroup(command)) return below;
  return [`\`${[...parent, command.name()].join(' ')}\``, ...below];
}
