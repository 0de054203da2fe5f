/** docs/cli.md: the help of every command. */
import type { Command } from 'commander';
import { buildProgram } from './program.ts';

const introduction = `# Command line

The help of every command of \`tailrace\`. [packages/cli](../packages/cli/README.md) explains common tasks.

This page is generated from the command line: run \`npm run docs:cli\` after a change.
`;

export function cliPage(): string {
  let help = '';
  const program = buildProgram(() => () => Promise.resolve(), {
    writeOut: (text) => (help += text),
    getOutHelpWidth: () => 100,
  });
  const sections = commandsOf(program, program.name()).map(({ path, command }) => {
    help = '';
    command.outputHelp();
    return `## ${path}\n\n\`\`\`\n${help.trimEnd()}\n\`\`\`\n`;
  });
  return [introduction, ...sections].join('\n');
}

/** The command and all commands below it. */
function commandsOf(command: Command, path: string): { path: string; command: Command }[] {
  return [
    { path, command },
    ...command.commands.flatMap((subcommand) => commandsOf(subcommand, `${path} ${subcommand.name()}`)),
  ];
}
