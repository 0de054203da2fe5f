export { kubernetesVersion, type ToolName } from './catalogue.ts';
export { cached } from './cache.ts';
export { rarelyCollecting, run, runToEnd, type Ended } from './command.ts';
export { customResourceDefinitions, schemaArguments } from './schemas.ts';
export { isToolCached, toolPath } from './tools.ts';
