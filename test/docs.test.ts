/** Keeps the documents consistent: rule numbers, links and file names that they mention exist. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { permissions } from '@tailrace/topology';

const root = path.join(import.meta.dirname, '..');
const specification = 'docs/specification.md';

const read = (file: string): string => readFileSync(path.join(root, file), 'utf8');

/** Tracked files, and new ones that are not ignored, with one of these endings. */
function files(...endings: string[]): string[] {
  const patterns = endings.map((ending) => `*${ending}`);
  const listed = execFileSync(
    'git',
    ['ls-files', '--cached', '--others', '--exclude-standard', ...patterns],
    {
      cwd: root,
      encoding: 'utf8',
    },
  );
  return listed.split('\n').filter((file) => file !== '' && existsSync(path.join(root, file)));
}

const withoutCode = (markdown: string): string => markdown.replace(/^ *```[^]*?^ *```/gm, '');

/** The anchor that GitHub gives a heading. */
const slug = (heading: string): string =>
  heading
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, '')
    .replaceAll(' ', '-');

function anchorsOf(markdown: string): Set<string> {
  const seen = new Map<string, number>();
  const anchors = [...withoutCode(markdown).matchAll(/^#{1,6} +(.+)$/gm)].map(([, heading = '']) => {
    const anchor = slug(heading);
    const count = seen.get(anchor) ?? 0;
    seen.set(anchor, count + 1);
    return count === 0 ? anchor : `${anchor}-${String(count)}`;
  });
  return new Set(anchors);
}

/**
 * The file and folder names in the first column of tables of files. `group` is the folder to which a name is relative: it is
 * named in the header ("file in `src`") or in an earlier row of its own ("**`publish/`**").
 */
function filesInTables(markdown: string): { readonly name: string; readonly group: string }[] {
  const tables = withoutCode(markdown).match(/^(?:\|.*\n)+/gm) ?? [];
  return tables.flatMap((table) => {
    const [header = '', , ...cells] = table.split('\n').map((row) => row.split('|')[1]?.trim() ?? '');
    if (!/^(?:file|folder)\b/.test(header)) return [];
    let [, group = '.'] = / in `([\w/.-]+)`/.exec(header) ?? [];
    return cells.flatMap((cell) => {
      group = /^\*\*`([\w/.-]+)`\*\*$/.exec(cell)?.[1] ?? group;
      const isGroup = cell.startsWith('**');
      return [...cell.matchAll(/`([\w./-]+\.\w+|[\w./-]+\/)`/g)].map(([, name = '']) => ({
        name,
        group: isGroup ? '.' : group,
      }));
    });
  });
}

/** The broken relative links of a document, a sentence each. */
function brokenLinks(file: string): string[] {
  const links = withoutCode(read(file))
    .replace(/`[^`\n]*`/g, '')
    .matchAll(/\]\(([^()\s]+)\)/g);
  return [...links].flatMap(([, link = '']) => {
    if (/^[a-z]+:/.test(link)) return [];
    const [target = '', anchor] = decodeURIComponent(link).split('#');
    const linked = target === '' ? file : path.join(path.dirname(file), target);
    if (!existsSync(path.join(root, linked))) return [`${file}: ${link}: there is no ${linked}`];
    if (anchor === undefined || !linked.endsWith('.md')) return [];
    return anchorsOf(read(linked)).has(anchor) ? [] : [`${file}: ${link}: ${linked} has no such heading`];
  });
}

/** The topics that a service may read or write, by the permissions that it needs in Kafka. */
function topicsOf(service: string, operation: 'Read' | 'Write'): string[] {
  const { resources = [] } = permissions.find(({ user }) => user === service) ?? {};
  return resources
    .filter(({ type, operations }) => type === 'topic' && operations.includes(operation))
    .map(({ name, patternType }) => (patternType === 'prefix' ? `${name}*` : name))
    .sort();
}

describe('documents', () => {
  test('every cited rule and section of the specification exists', () => {
    const text = read(specification);
    const rules = new Set([...text.matchAll(/\*\*(\d+\.\d+)\*\*/g)].map(([, rule]) => rule));
    const sections = new Set([...text.matchAll(/^## (\d+)\. /gm)].map(([, section]) => section));
    const wrong = files('.ts', '.go', '.py', '.md')
      .filter((file) => file !== 'test/docs.test.ts')
      .flatMap((file) => {
        // Citations may continue on the next line of a comment.
        const cited = read(file)
          .replaceAll(/\n\s*(?:\*|\/\/|#)?\s*/g, ' ')
          .matchAll(/docs\/specification\.md(?:#[\w-]+)?\)?, (?:rules?|sections?) ([\d., and to]*\d)/g);
        return [...cited].flatMap(([, numbers = '']) =>
          numbers
            .split(/, | and | to /)
            .filter((number) => !(number.includes('.') ? rules : sections).has(number))
            .map((number) => `${file}: ${number}`),
        );
      });
    assert.deepEqual(wrong, []);
  });

  test('code cites the specification only by rule or section number', () => {
    const vague = files('.ts', '.go').flatMap((file) =>
      file === 'test/docs.test.ts'
        ? []
        : [...read(file).matchAll(/\bspecification(?:,| )(?:section )?\d[\d.]*/gi)]
            // The specification of Avro has versions.
            .filter(([found]) => found !== 'specification 1.12')
            .map(([found]) => `${file}: ${found}`),
    );
    assert.deepEqual(vague, []);
  });

  test('rules of the specification are numbered without gaps', () => {
    const numbers = [...read(specification).matchAll(/\*\*(\d+)\.(\d+)\*\*/g)].map(([, section, rule]) => [
      Number(section),
      Number(rule),
    ]);
    const expected: number[][] = [];
    for (const [section = 0] of numbers) {
      const previous = expected.at(-1);
      expected.push([section, previous?.[0] === section ? (previous[1] ?? 0) + 1 : 1]);
    }
    assert.deepEqual(numbers, expected);
  });

  test('relative links lead to files and headings that exist', () => {
    assert.deepEqual(files('.md').flatMap(brokenLinks), []);
  });

  test('paths of the repository in documents exist', () => {
    const missing = files('.md').flatMap((file) =>
      [...read(file).matchAll(/`((?:docs|examples|infra|packages|services|test)\/[\w./-]+)`/g)]
        .filter(([, name = '']) => !existsSync(path.join(root, name)))
        .map(([, name = '']) => `${file}: ${name}`),
    );
    assert.deepEqual(missing, []);
  });

  test('the files of "Where is what" have what is to be looked for', () => {
    const [, list = ''] = read('ARCHITECTURE.md').split('## Where is what');
    const rows = [...list.matchAll(/^- .*: `(\S+)`, `(\w+)`$/gm)];
    assert.ok(rows.length > 10);
    const missing = rows
      .filter(([, file = '', symbol = '']) => !new RegExp(`\\b${symbol}\\b`).test(read(file)))
      .map(([row]) => row);
    assert.deepEqual(missing, []);
  });

  test('tables of files name files that exist', () => {
    const missing = files('.md').flatMap((file) => {
      const exists = (name: string, group: string): boolean =>
        ['.', 'src', group, path.join('src', group)].some((place) =>
          existsSync(path.join(root, path.dirname(file), place, name)),
        );
      return filesInTables(read(file))
        .filter(({ name, group }) => !exists(name, group))
        .map(({ name }) => `${file}: ${name}`);
    });
    assert.deepEqual(missing, []);
  });

  test('the architecture lists the topics that each service reads and writes', () => {
    const rows = [...read('ARCHITECTURE.md').matchAll(/^\| `(\w+)` *\|([^|]*)\|([^|]*)\|$/gm)];
    assert.equal(rows.length, 4);
    const everyTopic = new Set(
      rows.flatMap(([, service = '']) => [...topicsOf(service, 'Read'), ...topicsOf(service, 'Write')]),
    );
    for (const [, service = '', reads = '', writes = ''] of rows) {
      const named = (cell: string): string[] =>
        cell.includes('all topics')
          ? [...everyTopic].sort()
          : [...cell.matchAll(/`([^`]+)`/g)].map(([, topic = '']) => topic).sort();
      assert.deepEqual(named(reads), topicsOf(service, 'Read'), `${service} reads`);
      assert.deepEqual(named(writes), topicsOf(service, 'Write'), `${service} writes`);
    }
  });

  test('the architecture lists every part', () => {
    const parts = read('ARCHITECTURE.md').split('## The parts')[1] ?? '';
    const folders = globSync('{services,packages,infra}/*/', { cwd: root, exclude: ['**/node_modules'] });
    assert.ok(folders.length > 20);
    assert.deepEqual(
      folders.filter((folder) => !new RegExp(`[[\`]${folder.replace(/\/$/, '')}[\\]\`]`).test(parts)),
      [],
    );
  });

  test('sequence diagrams use declared participants and no character that ends a statement', () => {
    const diagrams = [...read('ARCHITECTURE.md').matchAll(/^```mermaid\n([^]*?)^```/gm)].map(
      ([, text = '']) => text,
    );
    assert.equal(diagrams.length, 4);
    for (const diagram of diagrams) {
      const [kind, ...lines] = diagram.trim().split('\n');
      assert.equal(kind, 'sequenceDiagram');
      const participants = new Set<string>();
      for (const line of lines.map((text) => text.trim())) {
        assert.doesNotMatch(line, /[;#]/);
        const [, declared] = /^participant (\w+) as \S.*$/.exec(line) ?? [];
        if (declared !== undefined) participants.add(declared);
        else if (line !== 'autonumber') {
          const [, from = '', to = ''] =
            /^(\w+)--?>>(\w+): \S.*$/.exec(line) ?? assert.fail(`cannot be read: ${line}`);
          assert.ok(participants.has(from) && participants.has(to), line);
        }
      }
    }
  });
});
