/** `npm run infra:tools`: gets the named programs into the cache, or those that `npm run check:infra` needs. */
import { catalogue, checkTools, type ToolName } from './catalogue.ts';
import { schemaArguments } from './schemas.ts';
import { isToolCached, toolPath } from './tools.ts';

const named = process.argv.slice(2);
const unknown = named.filter((name) => !(name in catalogue));
if (unknown.length > 0) {
  process.stderr.write(`Unknown: ${unknown.join(', ')}. Known: ${Object.keys(catalogue).join(', ')}.\n`);
  process.exit(2);
}
for (const name of named.length > 0 ? (named as ToolName[]) : checkTools) {
  if (!isToolCached(name)) process.stderr.write(`Getting ${name}, once\n`);
  process.stdout.write(`${name}: ${await toolPath(name)}\n`);
}
if (named.length === 0) {
  await schemaArguments();
  process.stdout.write('schemas of Kubernetes and of custom resources: complete\n');
}
