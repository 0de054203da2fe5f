/** Rules for code that no rule of the linter expresses. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import ts from 'typescript';

const root = path.join(import.meta.dirname, '..');

interface Rule {
  readonly found: RegExp;
  readonly why: string;
}

const rules: readonly Rule[] = [
  {
    found: /[{(]\s*timeout: [\d_]+\b|\bpatien\w*Ms = [\d_]+/,
    why: 'everything that a test awaits has the limit of packages/testing',
  },
  {
    found: /\bassert\.ok\([^;]*\b(?:elapsed|tookMs|durationMs|latencyMs)\b[^;]*[<>]/,
    why: 'how long something takes is measured under test/bench',
  },
  { found: /\bfreePort\b/, why: 'a port is bound first, with number 0, and then read' },
];

/** The rules that a text breaks, with the line. */
function brokenIn(text: string): string[] {
  return text
    .split('\n')
    .flatMap((line, index) =>
      rules.filter(({ found }) => found.test(line)).map(({ why }) => `${index + 1}: ${line.trim()}: ${why}`),
    );
}

test('test code has no limits, ports and measured times of its own', () => {
  const files = globSync(
    [
      '{packages,services,infra}/*/{src,web}/**/{*.test.ts,testing/**/*.ts}',
      'test/**/*.ts',
      'docs/**/*.test.ts',
    ],
    {
      cwd: root,
      exclude: [
        '**/node_modules/**',
        'test/bench/**',
        'test/rules.test.ts',
        'test/runner/**',
        'infra/local/src/{plan,ports}.test.ts',
        // A broker must know its ports before it starts.
        'test/support/kafka/cluster.ts',
      ],
    },
  );
  assert.ok(files.length > 300);
  const broken = files.flatMap((file) =>
    brokenIn(readFileSync(path.join(root, file), 'utf8')).map((what) => `${file}:${what}`),
  );
  assert.deepEqual(broken, []);
});

test('a limit, a port and a measured time are found', () => {
  for (const line of [
    `await page.click('text', { timeout: 5_000 });`,
    `const patienceMs = 500;`,
    `const port = await freePort();`,
    `assert.ok(elapsed < 500);`,
  ]) {
    assert.equal(brokenIn(line).length, 1, line);
  }
  for (const line of [
    `await page.click('text');`,
    `const settings = { timeoutMs };`,
    `{ timeout: limitMs }`,
  ]) {
    assert.deepEqual(brokenIn(line), [], line);
  }
});

/** The spreads of literals, with the line: `{ ...{ a, b } }` is `{ a, b }`. */
function literalSpreads(file: string, text: string): string[] {
  if (!/\.\.\.[{[]/.test(text)) return [];
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    const isLiteral =
      (ts.isSpreadAssignment(node) && ts.isObjectLiteralExpression(node.expression)) ||
      (ts.isSpreadElement(node) && ts.isArrayLiteralExpression(node.expression));
    if (isLiteral) found.push(`${file}:${source.getLineAndCharacterOfPosition(node.getStart()).line + 1}`);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

test('no literal is spread, which only steers the formatter', () => {
  const files = globSync('{packages,services,infra,test,docs,examples}/**/*.{ts,tsx}', {
    cwd: root,
    exclude: ['**/node_modules/**', '**/dist/**'],
  });
  const found = files.flatMap((file) => literalSpreads(file, readFileSync(path.join(root, file), 'utf8')));
  assert.deepEqual(found, []);
});

test('a spread literal is found, and a spread of anything else is none', () => {
  assert.deepEqual(literalSpreads('a.ts', `f({ ...{ a }, b });\ng(...['a', 'b']);`), ['a.ts:1', 'a.ts:2']);
  assert.deepEqual(literalSpreads('a.ts', `f({ ...(a && { b }), ...c }, ...[a].map(g));`), []);
});
