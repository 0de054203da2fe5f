/**
 * Kafka's usual partitioner, which remembers what it chose for a message. The library asks again when it repeats
 * a request, under the same sequence numbers: a message without a key would then go elsewhere, and the next
 * message to its first partition, under a number that is spent there, would be dropped as a repeat.
 */
import kafkajs, { type ICustomPartitioner, type Message } from 'kafkajs';

export const steadyPartitioner: ICustomPartitioner = () => {
  const choose = kafkajs.Partitioners.DefaultPartitioner();
  const chosen = new WeakMap<Message, number>();
  return (args) => {
    const partition = chosen.get(args.message) ?? choose(args);
    chosen.set(args.message, partition);
    return partition;
  };
};
