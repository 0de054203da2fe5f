import { Argument } from 'commander';
import { notes, type Declare } from '../declare.ts';

export const declareCompletion: Declare = (program, action) => {
  program
    .command('completion')
    .summary('write the completion script for bash or zsh')
    .description(
      'Write the completion script for bash or zsh.\n\n' +
        'bash: add this to ~/.bashrc:\n  source <(tailrace completion bash)\n' +
        'zsh: add this to ~/.zshrc, after compinit:\n  source <(tailrace completion zsh)',
    )
    .addArgument(new Argument('<shell>', 'the shell').choices(['bash', 'zsh']))
    .addHelpText(
      'after',
      notes({
        examples: ['completion bash > /etc/bash_completion.d/tailrace', 'completion zsh > ~/.zsh/_tailrace'],
        reads: [],
      }),
    )
    .action(action(async () => (await import('./script.ts')).writeCompletion(program)));
};
