/** The runbooks: one for each alert, the same headings, and commands for kubectl that it and the chart know. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { placeholders } from '@tailrace/monitoring';
import { parseAllDocuments } from 'yaml';
import { alertRules } from '../../support/monitoring/rules.ts';
import { codeBlocks, runbookFiles, runbookNames } from '../../support/monitoring/runbooks.ts';
import { run } from '../../support/tools/command.ts';
import { toolPath } from '../../support/tools/tools.ts';

const chart = path.join(import.meta.dirname, '../../../infra/chart');
const headings = ['What it means', 'Who is hurt', 'How to see', 'What to do'];
const programs = ['tailrace', 'kubectl', 'helm', 'curl', 'kafka-configs.sh'];

test('each alert has a runbook to which it links, and each runbook an alert', () => {
  assert.deepEqual([...new Set(alertRules().map(({ alert }) => alert))].sort(), runbookNames());
  for (const { alert, annotations } of alertRules()) {
    assert.equal(annotations['runbook_url'], `${placeholders.runbooks}/${alert}.md`);
  }
});

/** The commands of a runbook's shell blocks, one a line. */
function commandsOf(file: string): string[] {
  return codeBlocks(readFileSync(file, 'utf8'))
    .filter(({ language }) => language === 'sh')
    .flatMap(({ text }) => text.trim().split('\n'))
    .map((line) => line.trim());
}

describe('a runbook', () => {
  for (const [name, file] of runbookFiles()) {
    test(`${name} has the four headings, a query and no program that the tests do not know`, () => {
      const text = readFileSync(file, 'utf8');
      assert.match(text, new RegExp(`^# ${name}\n`));
      assert.deepEqual(
        [...text.matchAll(/^## (.+)$/gm)].map(([, heading]) => heading),
        headings,
      );
      assert.ok(codeBlocks(text).some(({ language }) => language === 'promql'));
      for (const command of commandsOf(file))
        assert.ok(programs.includes(command.split(' ')[0] ?? ''), command);
    });
  }
});

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> };
}

const values = { NAMESPACE: 'shop', RELEASE: 'acme', POD: 'acme-delivery-0' };

/** The objects of the chart with everything that the runbooks mention. */
async function rendered(): Promise<Manifest[]> {
  const settings = ['doctor.enabled=true', 'settings.KAFKA_BROKERS=kafka:9092'];
  const args = ['template', values.RELEASE, chart, '--namespace', values.NAMESPACE];
  const file = path.join(chart, 'ci/default.yaml');
  const yaml = await run(await toolPath('helm'), [...args, '-f', file, '--set', settings.join(',')]);
  return parseAllDocuments(yaml).map((document) => document.toJS() as Manifest);
}

test('no command owns a field that the next upgrade sets, or selects events by labels, which they do not have', () => {
  for (const command of [...runbookFiles().values()].flatMap(commandsOf)) {
    assert.doesNotMatch(command, /^kubectl .*\b(scale|rollout undo|set|edit|patch|apply|replace)\b/);
    assert.doesNotMatch(command, /^kubectl .*\bevents\b.* -l /);
  }
});

test('kubectl and helm accept each command, whose objects and labels the chart has; no cluster runs it', async () => {
  const objects = (await rendered()).filter((object) => object as Manifest | null);
  const names = new Set(objects.map(({ kind, metadata }) => `${kind.toLowerCase()}/${metadata.name}`));
  const commands = new Set(
    [...runbookFiles().values()].flatMap(commandsOf).filter((line) => /^(kubectl|helm) /.test(line)),
  );
  assert.ok(commands.size > 10);
  for (const command of commands) {
    const words = command
      .replaceAll(/\$(NAMESPACE|RELEASE|POD)\b/g, (_, name: keyof typeof values) => values[name])
      .replaceAll('"', '')
      .split(' ');
    // Help is shown after flags and the command have been understood.
    await run(await toolPath(words[0] as 'kubectl' | 'helm'), [...words.slice(1), '--help']);
    for (const word of words) {
      const object = /^(?:--from=)?((?:deployment|statefulset|service|cronjob)\/.+)$/.exec(word)?.[1];
      if (object) assert.ok(names.has(object), `${command}: the chart has no ${object}`);
    }
    const selector = words[words.indexOf('-l') + 1] ?? '';
    if (words.includes('-l')) {
      const wanted = selector.split(',').map((pair) => pair.split('='));
      const selected = objects.some(({ metadata }) =>
        wanted.every(([label = '', value]) => metadata.labels?.[label] === value),
      );
      assert.ok(selected, `${command}: no object of the chart has these labels`);
    }
  }
});
