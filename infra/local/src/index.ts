export { startBroker, startOwnBroker, type Broker, type OwnBroker } from './broker/broker.ts';
export { resolveJars } from './broker/jars.ts';
export { cacheDir } from './broker/maven.ts';
export type { BrokerChanges } from './broker/node.ts';
export { freePort, reservePort } from './ports.ts';
export { startScript, withThisNode } from './start-script.ts';
export { startRegistry } from './registry/registry.ts';
