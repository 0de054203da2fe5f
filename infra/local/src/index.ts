export {
  discardData,
  startBroker,
  startOwnBroker,
  type Broker,
  type BrokerOptions,
  type OwnBroker,
} from './broker.ts';
export { nodeFlags } from './node-flags.ts';
export { freePort, isFree } from './ports.ts';
