export {
  discardData,
  startBroker,
  startOwnBroker,
  type Broker,
  type BrokerOptions,
  type OwnBroker,
} from './broker.ts';
export { freePort, isFree } from './ports.ts';
