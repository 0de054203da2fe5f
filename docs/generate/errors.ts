/** docs/errors.md, generated from the error table of packages/errors. */
import { errorTable } from '@tailrace/errors';

const introduction = `# Errors

Every error that Tailrace can name has a code. Answers of the HTTP APIs contain it in the JSON field \`code\`, next to a sentence in \`message\`; so do log
lines, and rejected records in the headers \`error-code\` and \`error-message\`. Errors that no HTTP answer can contain have status 500 or that of a similar error.

After each code are the status, the meaning, and how to fix it. This page is generated from \`packages/errors\`: run \`npm run docs:errors\` after a change.
`;

export function errorsPage(): string {
  const items = Object.entries(errorTable).map(([code, { status, meaning, hint }]) => {
    const sentence = `${meaning.charAt(0).toUpperCase()}${meaning.slice(1)}.`;
    return `- \`${code}\` (${String(status)}): ${sentence} ${hint}\n`;
  });
  return `${introduction}\n${items.join('')}`;
}
