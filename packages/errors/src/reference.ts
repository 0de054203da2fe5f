/** The table of errors as the reference page shows it. */
import { errorTable } from './index.ts';

const marks = { begin: '<!-- prettier-ignore-start -->', end: '<!-- prettier-ignore-end -->' };

/** `page` with the table between its marks brought up to date. */
export function withReference(page: string): string {
  const rows = Object.entries(errorTable).map(
    ([code, { status, meaning, hint }]) => `| \`${code}\` | ${status} | ${meaning} | ${hint} |`,
  );
  const table = ['| code | status | meaning | what to do |', '| --- | --- | --- | --- |', ...rows].join('\n');
  const [before, rest = ''] = page.split(marks.begin);
  const [, after = ''] = rest.split(marks.end);
  return `${before ?? ''}${marks.begin}\n\n${table}\n\n${marks.end}${after}`;
}
