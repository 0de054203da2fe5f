/**
 * `tailrace completion`: scripts for bash and zsh, made from the table of commands. Both share one function in the
 * part of the language that the two have in common; it prints what may follow a line. bash 3.2, which macOS has,
 * is enough.
 */
import { defineCommand, exitCodes, type Command, type OptionSpec } from './command.ts';
import { commonOptions, positionalsOf } from './parse.ts';

const shells = ['bash', 'zsh'] as const;
type Shell = (typeof shells)[number];

/** `commands` is asked for late, because this command is one of them. */
export function completionOf(commands: () => readonly Command[]): Command {
  return defineCommand({
    name: 'completion',
    summary: 'write the completion for bash or zsh',
    details: [
      'bash: add this to ~/.bashrc:  source <(tailrace completion bash)',
      'zsh: add this to ~/.zshrc, after compinit:  source <(tailrace completion zsh)',
    ],
    examples: ['completion bash > /etc/bash_completion.d/tailrace', 'completion zsh > ~/.zsh/_tailrace'],
    through: 'neither',
    options: {
      shell: {
        type: 'string',
        positional: true,
        required: true,
        placeholder: 'SHELL',
        choices: shells,
        help: 'bash or zsh',
      },
    },
    run({ shell }) {
      const script = completionScript(commands(), shell as Shell);
      return Promise.resolve({ exitCode: exitCodes.done, text: script.split('\n'), json: { script } });
    },
  });
}

export function completionScript(commands: readonly Command[], shell: Shell): string {
  return [...candidateFunction(commands), '', ...(shell === 'bash' ? bashWiring : zshWiring)].join('\n');
}

/** Its arguments are the words before the one that is being completed, without `tailrace`. */
function candidateFunction(commands: readonly Command[]): string[] {
  return [
    '_tailrace_candidates() {',
    '  local said="" word="" last=""',
    '  for word in "$@"; do',
    '    case "$word" in',
    '      -*) break ;;',
    '    esac',
    '    said="$said$word "',
    '  done',
    '  [ $# -gt 0 ] && for last in "$@"; do :; done',
    '  case "$said" in',
    ...[...commands].sort(longestFirst).flatMap(commandCase),
    ...nextWords(commands).map(([said, words]) => `    ${quote(said)}) echo ${quote(words.join(' '))} ;;`),
    '  esac',
    '}',
  ];
}

/** So that `dead replay` is not taken for what begins with `dead`. */
function longestFirst(a: Command, b: Command): number {
  return b.name.length - a.name.length;
}

function commandCase({ name, options }: Command): string[] {
  const all = Object.entries({ ...options, ...commonOptions });
  const positionals = positionalsOf(options);
  const named = all.filter(([option]) => !positionals.includes(option));
  const valued = named.filter(([, spec]) => spec.type !== 'boolean');
  const choices = positionals.flatMap((option) => choicesOf(options[option]));
  return [
    `    ${quote(`${name} `)}*)`,
    '      case "$last" in',
    ...valued.map(([option, spec]) => `        ${spellings(option, spec).join('|')}) ${valueOf(spec)} ;;`),
    `        *) echo ${quote([...choices, ...named.map(([option]) => `--${option}`)].join(' '))} ;;`,
    '      esac ;;',
  ];
}

function spellings(option: string, spec: OptionSpec): string[] {
  return [`--${option}`, ...('short' in spec ? [`-${spec.short}`] : [])];
}

/** `@files` stands for the names of files. */
function valueOf(spec: OptionSpec): string {
  if ('placeholder' in spec && spec.placeholder === 'FILE') return 'echo @files';
  const choices = choicesOf(spec);
  return choices.length === 0 ? ':' : `echo ${quote(choices.join(' '))}`;
}

function choicesOf(spec: OptionSpec | undefined): readonly string[] {
  return spec?.type === 'string' ? (spec.choices ?? []) : [];
}

/** What may follow the words of a group. */
function nextWords(commands: readonly Command[]): [said: string, words: readonly string[]][] {
  const next = new Map<string, Set<string>>();
  for (const { name } of commands) {
    let said = '';
    for (const word of name.split(' ')) {
      next.set(said, (next.get(said) ?? new Set()).add(word));
      said += `${word} `;
    }
  }
  return [...next].map(([said, words]) => [said, [...words]]);
}

function quote(text: string): string {
  return `'${text}'`;
}

const bashWiring = [
  '_tailrace() {',
  '  local current="${COMP_WORDS[COMP_CWORD]}" candidates',
  '  candidates="$(_tailrace_candidates "${COMP_WORDS[@]:1:COMP_CWORD-1}")"',
  '  if [ "$candidates" = "@files" ]; then',
  '    COMPREPLY=($(compgen -f -- "$current"))',
  '  else',
  '    COMPREPLY=($(compgen -W "$candidates" -- "$current"))',
  '  fi',
  '}',
  'complete -o filenames -F _tailrace tailrace',
];

const zshWiring = [
  '_tailrace() {',
  '  local candidates',
  '  candidates="$(_tailrace_candidates "${(@)words[2,CURRENT-1]}")"',
  '  if [ "$candidates" = "@files" ]; then',
  '    _files',
  '  else',
  '    compadd -- ${(s: :)candidates}',
  '  fi',
  '}',
  'compdef _tailrace tailrace',
];
