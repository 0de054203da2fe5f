/**
 * Kafka's usual partitioner, which writes what it chose into the message. The library asks again when it repeats
 * a request, under the same sequence numbers: a message without a key would then go elsewhere, and the next
 * message to its first partition, under a number that is spent there, would be dropped as a repeat.
 */
import kafkajs, { type ICustomPartitioner } from 'kafkajs';

export const steadyPartitioner: ICustomPartitioner = () => {
  const choose = kafkajs.Partitioners.DefaultPartitioner();
  return (args) => {
    args.message.partition ??= choose(args);
    return args.message.partition;
  };
};
