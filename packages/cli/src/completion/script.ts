/**
 * Completion scripts for bash and zsh, generated from the commands. Both shells use one function in their common
 * syntax, `_tailrace_candidates`, which prints the candidates for the next word. It works in bash 3.2 (macOS).
 */
import type { Command, Option } from 'commander';
import { leafCommands } from '../declare.ts';

/** @param shell `bash` or `zsh` */
export function completionScript(program: Command, shell: string): string {
  const leaves = leafCommands(program).sort((a, b) => b.path.length - a.path.length);
  return [
    // Its arguments are the words before the one to complete, without `tailrace`.
    '_tailrace_candidates() {',
    '  local words="" word="" last=""',
    '  for word in "$@"; do',
    '    case "$word" in -*) break ;; esac',
    '    words="$words$word "',
    '  done',
    '  [ $# -gt 0 ] && for last in "$@"; do :; done',
    '  case "$words" in',
    // The longest path first: `replay *` must not match before `dead replay *`.
    ...leaves.flatMap(({ path, command }) => leafCase(path, command)),
    ...groupCases(program, ''),
    '  esac',
    '}',
    '',
    ...(shell === 'bash' ? bashFunction : zshFunction),
  ].join('\n');
}

function leafCase(path: string, command: Command): string[] {
  const values = command.options.filter(({ required }) => required);
  const words = [
    ...command.commands.map((below) => below.name()),
    ...command.registeredArguments.flatMap(({ argChoices = [] }) => argChoices),
    ...command.options.map(({ long }) => long),
    '--help',
  ];
  return [
    `    '${path} '*) case "$last" in`,
    ...values.map((option) => `        ${spellings(option)}) ${valueOf(option)} ;;`),
    `        *) echo '${words.join(' ')}' ;;`,
    '      esac ;;',
  ];
}

function groupCases(command: Command, path: string): string[] {
  if (command.commands.length === 0) return [];
  const names = command.commands.map((subcommand) => subcommand.name());
  return [
    `    '${path}') echo '${names.join(' ')}' ;;`,
    ...command.commands.flatMap((subcommand) => groupCases(subcommand, `${path}${subcommand.name()} `)),
  ];
}

function spellings({ short, long }: Option): string {
  return [short, long].filter(Boolean).join('|');
}

/** `@files` stands for file names. */
function valueOf({ flags, argChoices = [] }: Option): string {
  if (flags.endsWith('<file>')) return 'echo @files';
  return argChoices.length === 0 ? ':' : `echo '${argChoices.join(' ')}'`;
}

const bashFunction = [
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

const zshFunction = [
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
