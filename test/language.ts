/** Finds words that docs/glossary.md replaces, and sentences whose subject is a relative clause. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';

export interface Finding {
  readonly line: number;
  readonly found: string;
  readonly instead: string;
}

interface Replacement {
  readonly pattern: RegExp;
  readonly instead: string;
}

const glossary = path.join(import.meta.dirname, '..', 'docs', 'glossary.md');

/** The names in backticks under "Names that stay". */
export function readKeptNames(text = readFileSync(glossary, 'utf8')): RegExp {
  const names = [...(text.split('\n## Names that stay\n')[1] ?? '').matchAll(/`([^`]+)`/g)].map(
    ([, name]) => name,
  );
  return new RegExp(`\\b(?:${names.join('|')})\\b`, 'g');
}

/** The table under "Words" of the glossary. */
export function readReplacements(text = readFileSync(glossary, 'utf8')): Replacement[] {
  const rows = (text.split('\n## Words\n')[1]?.split('\n## ')[0] ?? '')
    .split('\n')
    .filter((line) => line.startsWith('| '));
  return rows.slice(1).flatMap((row) => {
    const [, not = '', but = ''] = row.split('|').map((cell) => cell.trim());
    if (/^-+$/.test(not)) return [];
    return not.split(', ').map((words) => ({
      pattern: new RegExp(`\\b${words.replaceAll(' ', '\\s+')}\\b`, 'gi'),
      instead: but,
    }));
  });
}

/** A sentence such as "What fails makes the exit code 1": readers look for its subject. */
const relativeSubject =
  /(?:^|[.!?;:]\s+|\n\s*\n\s*)((?:What|Who|Whatever|Whoever)\s(?:[^.?!|]|\.\S)*\.)(?=\s|$)/g;

/** The text that people read in a file: prose, comments, messages and identifiers; code is replaced by spaces. */
export function readableText(file: string, text: string): { words: string; prose: string } {
  if (file.endsWith('.md')) {
    const prose = text
      .replace(/^```[^]*?^```/gm, blank)
      .replace(/`[^`\n]*`/g, (code) => 'x'.repeat(code.length));
    return { words: splitNames(text), prose: prose.replace(/^[|#].*$/gm, blank) };
  }
  const comments = file.endsWith('.ts') ? commentsOf(text) : text.replace(/^(?!\s*(?:\/\/|#)).*$/gm, blank);
  return { words: splitNames(text), prose: comments };
}

export function findingsIn(file: string, text: string, replacements: readonly Replacement[]): Finding[] {
  const { words, prose } = readableText(file, text.replace(readKeptNames(), blank));
  const lineAt = (index: number, of: string): number => of.slice(0, index).split('\n').length;
  const found = replacements.flatMap(({ pattern, instead }) =>
    [...words.matchAll(pattern)].map((match) => ({
      line: lineAt(match.index, words),
      found: match[0],
      instead,
    })),
  );
  const sentences = [...prose.matchAll(relativeSubject)].map((match) => ({
    line: lineAt(match.index + match[0].length - (match[1] ?? '').length, prose),
    found: (match[1] ?? '').replaceAll(/\s+/g, ' ').slice(0, 60),
    instead: 'a sentence that begins with its subject',
  }));
  return [...found, ...sentences].sort((a, b) => a.line - b.line);
}

/** `putOff` and `put_off` are read as "put off"; comment stars at line starts as spaces. */
function splitNames(text: string): string {
  return text
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .replaceAll('_', ' ')
    .replace(/^(\s*)(\*|\/\/)/gm, '$1 ');
}

function commentsOf(text: string): string {
  const scanner = ts.createScanner(ts.ScriptTarget.Latest, false, ts.LanguageVariant.Standard, text);
  let comments = '';
  for (let kind = scanner.scan(); kind !== ts.SyntaxKind.EndOfFileToken; kind = scanner.scan()) {
    const token = scanner.getTokenText();
    const isComment =
      kind === ts.SyntaxKind.SingleLineCommentTrivia || kind === ts.SyntaxKind.MultiLineCommentTrivia;
    comments += isComment
      ? token
          .replace(/^(\s*)(\/\*\*|\*\/|\*|\/\/)/gm, (mark) => ' '.repeat(mark.length))
          .replace(/\*\/$/, '  ')
      : blank(token);
  }
  return comments;
}

function blank(text: string): string {
  return text.replace(/[^\n]/g, ' ');
}
