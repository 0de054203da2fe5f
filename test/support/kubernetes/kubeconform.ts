/** Validates objects against the schemas of Kubernetes and of custom resources. */
import { spawnSync } from 'node:child_process';
import { rarelyCollecting } from '../tools/command.ts';
import { schemaArguments } from '../tools/schemas.ts';
import { toolPath } from '../tools/tools.ts';

const kubeconform = await toolPath('kubeconform');
const schemas = await schemaArguments();

/** The problems that kubeconform finds in the objects; empty if they are valid. */
export function schemaProblems(objects: readonly object[]): string {
  const input = objects.map((object) => JSON.stringify(object)).join('\n---\n');
  const env = { ...process.env, ...rarelyCollecting };
  const { stdout } = spawnSync(kubeconform, ['-strict', ...schemas, '-'], { input, env, encoding: 'utf8' });
  return stdout;
}
