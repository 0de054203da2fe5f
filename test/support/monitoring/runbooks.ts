/** Reads the runbooks: one for each alert, in infra/runbooks. */
import { globSync } from 'node:fs';
import path from 'node:path';

const folder = path.join(import.meta.dirname, '../../../infra/runbooks');

/** The absolute paths of the runbooks by the name of their alert. */
export function runbookFiles(): ReadonlyMap<string, string> {
  const files = globSync('Tailrace*.md', { cwd: folder }).sort();
  return new Map(files.map((file) => [path.basename(file, '.md'), path.join(folder, file)]));
}

export function runbookNames(): string[] {
  return [...runbookFiles().keys()];
}

export interface CodeBlock {
  readonly language: string;
  readonly text: string;
}

/** The fenced blocks of a document. */
export function codeBlocks(markdown: string): CodeBlock[] {
  return [...markdown.matchAll(/^ *```(\w*)\n([^]*?)^ *```$/gm)].map(([, language = '', text = '']) => ({
    language,
    text,
  }));
}
