/** `tailrace edit`: opens an entry in an editor, and writes it back where it was changed. */
import { spawn } from 'node:child_process';
import { mkdtempDisposable, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { isTailraceError } from '@tailrace/errors';
import { parse, stringify } from 'yaml';
import type { Api, ApiContext } from '../api/client.ts';
import { pathOf } from '../api/path.ts';
import { done } from '../api/show.ts';
import { exitCodes, UsageError, type CommandContext, type Outcome } from '../command.ts';
import { printable } from '../terminal/table.ts';

type Kind = 'source' | 'destination' | 'notification';

/** Only the owner may read the file. */
const fileMode = 0o600;

export async function editEntry(kind: Kind, id: string, context: ApiContext): Promise<Outcome> {
  const { api } = context;
  const editor = editorOf(context);
  await using folder = await mkdtempDisposable(path.join(tmpdir(), 'tailrace-edit-'));
  const file = path.join(folder.path, `${kind}-${id.replaceAll(/[^a-zA-Z0-9_-]/g, '_')}.yaml`);
  return await editUntilValid({ kind, id, file, editor, api });
}

function editorOf({ env }: Pick<CommandContext, 'env'>): string {
  const commands = [env['VISUAL'], env['EDITOR']].map((command) => command?.trim() ?? '');
  const editor = commands.find((command) => command !== '');
  if (editor !== undefined) return editor;
  throw new UsageError(
    'no editor: set EDITOR (or VISUAL) to the command of one, such as nano or "code --wait"',
  );
}

interface Editing {
  readonly kind: Kind;
  readonly id: string;
  readonly file: string;
  readonly editor: string;
  readonly api: Api;
}

async function editUntilValid({ kind, id, file, editor, api }: Editing): Promise<Outcome> {
  const place = pathOf(`${kind}s`, id);
  let { entry, version } = await api.getVersion(place);
  let content = yamlOf(entry);
  let notes: readonly string[] = [];
  for (;;) {
    const opened = [...comments([...notes, '', ...instructions(kind, id)]), content].join('');
    await writeFile(file, opened, { mode: fileMode });
    await runEditor(editor, file);
    const saved = withoutComments(await readFile(file, 'utf8'));
    if (saved.trim() === '' || saved === withoutComments(opened)) {
      const isRefused = notes.length > 0;
      const text = [
        isRefused ? 'Nothing was changed: the last version was not valid.' : 'Nothing was changed.',
      ];
      return { exitCode: isRefused ? exitCodes.failed : exitCodes.done, text, json: { changed: false } };
    }
    try {
      const updated = await api.replace(place, parse(saved), version);
      return done(`The ${kind} ${id} is updated.`, { changed: true, entry: updated });
    } catch (error) {
      if (isTailraceError(error, 'precondition-failed')) {
        ({ entry, version } = await api.getVersion(place));
        content = yamlOf(entry);
        notes = [
          `The ${kind} was changed by someone else meanwhile. This is its present version; make your changes again.`,
          'Your version was:',
          ...saved.trimEnd().split('\n'),
        ];
      } else if (isCorrectable(error)) {
        content = saved;
        notes = [
          'The file was not accepted; correct it, or save it unchanged to give up:',
          ...error.message.split('\n'),
        ];
      } else throw error;
    }
  }
}

/** Errors of the content: of YAML, or of the service. */
function isCorrectable(error: unknown): error is Error {
  if (error instanceof Error && error.name === 'YAMLParseError') return true;
  return (
    isTailraceError(error, 'invalid-configuration') ||
    isTailraceError(error, 'invalid-request') ||
    isTailraceError(error, 'body-too-large')
  );
}

function instructions(kind: Kind, id: string): string[] {
  return [
    printable(
      `The ${kind} ${id}. Save and close the editor to apply it; an unchanged or empty file changes nothing.`,
    ),
    'Lines that begin with # are ignored. ******** keeps a secret.',
  ];
}

function yamlOf(entry: unknown): string {
  return stringify(entry, { lineWidth: 0 });
}

function comments(lines: readonly string[]): string[] {
  const first = lines[0] === '' ? lines.slice(1) : lines;
  return first.map((line) => `${`# ${line}`.trimEnd()}\n`);
}

/** Comments at the beginning only: a # may be part of a text. */
function withoutComments(text: string): string {
  return text.replace(/^(?:#[^\n]*\n?)*/, '');
}

/** The editor may have arguments, so a shell runs it. */
async function runEditor(editor: string, file: string): Promise<void> {
  const child = spawn('/bin/sh', ['-c', `${editor} "$0"`, file], { stdio: 'inherit' });
  const how = await new Promise<string | undefined>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('close', (code, signal) =>
      resolve(code === 0 ? undefined : `it ended with ${signal ?? String(code)}`),
    );
  });
  if (how !== undefined)
    throw new UsageError(`the editor ${JSON.stringify(editor)} failed: ${how}; nothing was changed`);
}
