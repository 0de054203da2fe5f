/**
 * Reads the configuration file, YAML 1.2 or JSON (which is YAML), with the place of each field, so that each
 * problem is reported as `file:line:column field: problem`.
 */
import { TailraceError, type FieldProblem } from '@tailrace/errors';
import {
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  visit,
  type Document,
} from 'yaml';
import { checkConfiguration } from './rules/check.ts';
import { formatPath, type FieldPath, type Problem } from './rules/problem.ts';
import type { Configuration } from './rules/schema.ts';
import { resolveConfiguration, type ReferenceLookups } from './secrets/references.ts';

/** A configuration with the places of its fields in the file. */
export interface ParsedConfiguration extends Configuration {
  /** `file:line:column` of a field, or of the innermost field around it that the file contains. */
  readonly placeOf: (path: FieldPath) => string;
}

export interface ParseOptions extends ReferenceLookups {
  /** Where problems are. */
  readonly fileName: string;
}

/**
 * The sources and destinations that `text` describes, with defaults filled in and references to secrets resolved.
 *
 * @throws TailraceError `invalid-configuration` with every problem, one per line, in the order of the file
 */
export function parseConfiguration(
  text: string,
  { fileName, ...lookups }: ParseOptions,
): ParsedConfiguration {
  const lineCounter = new LineCounter();
  const document = parseDocument(text, { lineCounter, prettyErrors: false });
  const place = (offset: number): string => {
    const { line, col } = lineCounter.linePos(offset);
    return `${fileName}:${line}:${col}`;
  };

  // A file with syntax errors may be read wrongly, so its fields are not validated.
  const misread = [...document.errors, ...document.warnings].map(({ pos, code, message }) => ({
    offset: pos[0],
    message:
      code === 'MULTIPLE_DOCS' ? 'a second document begins here; use one document, without ---' : message,
  }));
  const unreadable = [...misread, ...unresolvedAliases(document)];
  if (unreadable.length > 0) {
    unreadable.sort((a, b) => a.offset - b.offset);
    throw invalidConfiguration(unreadable.map(({ offset, message }) => `${place(offset)} ${message}`));
  }

  const resolved = resolveConfiguration(valueOf(document, fileName), lookups);
  const checked = checkConfiguration(resolved.value);
  if ('problems' in checked || resolved.problems.length > 0) {
    const unresolved = new Set(resolved.problems.map(({ path }) => formatPath(path)));
    // A reference that cannot be resolved is not judged by the rules of its field.
    const broken = ('problems' in checked ? checked.problems : []).filter(
      ({ path }) => !unresolved.has(formatPath(path)),
    );
    const found = [...resolved.problems, ...broken].map((problem) => ({
      offset: offsetOf(document, problem.path, problem.about),
      line: problemLine(problem),
    }));
    found.sort((a, b) => a.offset - b.offset);
    throw invalidConfiguration(found.map(({ offset, line }) => `${place(offset)} ${line}`));
  }
  return { ...checked.value, placeOf: (path) => place(offsetOf(document, path, 'value')) };
}

/** One error with every problem on its own line; `placeOf` gives the prefix of each line. */
export function problemsError(
  problems: readonly Problem[],
  placeOf?: (path: FieldPath) => string,
): TailraceError {
  return invalidConfiguration(
    problems.map((problem) => `${placeOf ? `${placeOf(problem.path)} ` : ''}${problemLine(problem)}`),
    problems.map(({ path, message }) => ({ field: formatPath(path), rule: message })),
  );
}

function problemLine({ path, message }: Problem): string {
  return path.length === 0 ? `the configuration ${message}` : `${formatPath(path)}: ${message}`;
}

function invalidConfiguration(lines: readonly string[], problems?: readonly FieldProblem[]): TailraceError {
  return new TailraceError('invalid-configuration', [...new Set(lines)].join('\n'), problems && { problems });
}

function unresolvedAliases(document: Document): { offset: number; message: string }[] {
  const found: { offset: number; message: string }[] = [];
  visit(document, {
    Alias(_key, alias) {
      if (alias.resolve(document)) return;
      const message = `the alias *${alias.source} has no anchor before it`;
      found.push({ offset: alias.range?.[0] ?? 0, message });
    },
  });
  return found;
}

function valueOf(document: Document, fileName: string): unknown {
  try {
    return document.toJS();
  } catch (error) {
    // The parser's protection against nested aliases that would fill the memory.
    if (error instanceof ReferenceError) throw invalidConfiguration([`${fileName}:1:1 ${error.message}`]);
    throw error;
  }
}

/** The offset of a field in the text, or of the innermost field around it that exists. */
function offsetOf(document: Document, path: FieldPath, about: Problem['about']): number {
  let offset = 0;
  let node: unknown = document.contents;
  for (const [depth, step] of path.entries()) {
    offset = startOf(node) ?? offset;
    if (isAlias(node)) node = node.resolve(document);
    if (isSeq(node)) {
      node = node.items[Number(step)];
    } else if (isMap(node)) {
      const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === String(step));
      if (pair && about !== 'value' && depth === path.length - 1) return startOf(pair.key) ?? offset;
      // A key without a value has no value node with an offset.
      node = pair && isScalar(pair.value) && pair.value.value === null ? pair.key : pair?.value;
    } else {
      return offset;
    }
  }
  return startOf(node) ?? offset;
}

function startOf(node: unknown): number | undefined {
  return isNode(node) ? node.range?.[0] : undefined;
}
