/** Values as YAML that a terminal can show: every control character is escaped. */
import { isRawNumber } from '@tailrace/events';
import { Document, Scalar, visit, type ScalarTag } from 'yaml';
import { printable } from './table.ts';

/** Numbers of events keep their digits. */
const rawNumber: ScalarTag = {
  tag: 'tag:yaml.org,2002:float',
  default: true,
  identify: isRawNumber,
  resolve: (text) => text,
  stringify: ({ value }) => (isRawNumber(value) ? value.rawJSON : String(value)),
};

/** The lines of a document. @param comment lines above it */
export function yamlLines(value: unknown, comment: readonly string[] = []): string[] {
  const document = new Document(value, {
    aliasDuplicateObjects: false,
    customTags: (tags) => [rawNumber, ...tags],
  });
  if (comment.length > 0) document.commentBefore = comment.map((line) => ` ${line}`).join('\n');
  visit(document, {
    Scalar(_key, node) {
      // Quoted text has escapes, which a plain or a block text does not have.
      if (typeof node.value === 'string' && /[^\P{Cc}\n]/u.test(node.value)) {
        node.type = Scalar.QUOTE_DOUBLE;
      }
    },
  });
  return document.toString({ lineWidth: 0 }).trimEnd().split('\n').map(printable);
}
