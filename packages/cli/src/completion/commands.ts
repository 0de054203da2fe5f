import type { Command } from 'commander';
import { command, type Declared } from '../declare.ts';

export function completion(program: Command): Declared {
  return command({
    words: 'completion',
    summary: 'write the completion script for bash or zsh',
    description:
      'Write the completion script for bash or zsh.\n\n' +
      'bash: add this to ~/.bashrc:\n  source <(tailrace completion bash)\n' +
      'zsh: add this to ~/.zshrc, after compinit:\n  source <(tailrace completion zsh)',
    arguments: { '<shell>': { about: 'the shell', choices: ['bash', 'zsh'] } },
    examples: ['completion bash > /etc/bash_completion.d/tailrace', 'completion zsh > ~/.zsh/_tailrace'],
    reads: [],
    async run({ shell }) {
      const { completionScript } = await import('./script.ts');
      const script = completionScript(program, shell);
      return { text: script.split('\n'), json: { script } };
    },
  });
}
