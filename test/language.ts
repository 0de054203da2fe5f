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
const keptNames = readKeptNames(readFileSync(glossary, 'utf8'));

function readKeptNames(text: string): RegExp {
  const section = text.split('\n## Names that stay\n')[1] ?? '';
  const names = [...section.matchAll(/`([^`]+)`/g)].map(([, name]) => name);
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

/** Finds the clause of a sentence such as "What fails makes the exit code 1": readers look for its subject. */
const relativeClause = /\b(?:What|Who|Whatever|Whoever)\s(?:[^.?!|]|\.\S)*\.(?=\s|$)/g;
/** Precedes the first word of a sentence: nothing, the end of another sentence, or an empty line. */
const sentenceStart = /(?:^|[.!?;:]|\n[^\S\n]*\n)\s*$/;

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
  const { words, prose } = readableText(file, text.replace(keptNames, blank));
  const found = replacements.flatMap(({ pattern, instead }) =>
    [...words.matchAll(pattern)].map((match) => ({
      line: lineAt(match.index, words),
      found: match[0],
      instead,
    })),
  );
  const sentences = [...prose.matchAll(relativeClause)]
    .filter(({ index }) => sentenceStart.test(prose.slice(Math.max(0, index - 200), index)))
    .map((match) => ({
      line: lineAt(match.index, prose),
      found: match[0].replaceAll(/\s+/g, ' ').slice(0, 60),
      instead: 'a sentence that begins with its subject',
    }));
  return [...found, ...sentences].sort((a, b) => a.line - b.line);
}

function lineAt(index: number, text: string): number {
  return text.slice(0, index).split('\n').length;
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
