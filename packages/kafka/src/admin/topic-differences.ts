/** How a topic differs from its specification: a sentence for each difference, with the command that removes it. Pure. */
import type { TopicDescription, TopicSpec } from './topic-spec.ts';

/** A higher value of these settings is no difference. */
const atLeast = ['min.insync.replicas'];

export function differencesOf(
  spec: TopicSpec,
  present: ReadonlyMap<string, TopicDescription>,
  settings: Readonly<Record<string, string | undefined>>,
  specs: readonly TopicSpec[],
): string[] {
  const is = present.get(spec.name);
  if (is === undefined) return [];
  return [
    ...partitionDifference(spec, is, present, specs),
    ...replicationDifference(spec, is),
    ...Object.entries(spec.config).flatMap(([setting, wanted]) => {
      const value = settings[setting];
      if (value === wanted || (atLeast.includes(setting) && Number(value) > Number(wanted))) return [];
      return (
        `${setting} is ${value ?? 'unknown'} and should be ${wanted}: change it with kafka-configs.sh ` +
        `--alter --entity-type topics --entity-name ${spec.name} --add-config ${setting}=${wanted}`
      );
    }),
  ];
}

function partitionDifference(
  { partitions, samePartitionsAs, group, keepsPartitions }: TopicSpec,
  { partitions: count }: TopicDescription,
  present: ReadonlyMap<string, TopicDescription>,
  specs: readonly TopicSpec[],
): string[] {
  const model = samePartitionsAs === undefined ? undefined : present.get(samePartitionsAs);
  if (model && samePartitionsAs !== undefined) {
    if (count === model.partitions) return [];
    const most = Math.max(
      model.partitions,
      ...specs
        .filter((spec) => spec.samePartitionsAs === samePartitionsAs)
        .map(({ name }) => present.get(name)?.partitions ?? 0),
    );
    return [
      `it has ${count} partitions and ${samePartitionsAs} has ${model.partitions}: make them equal with ` +
        `npx tailrace topics apply --partitions ${most}${group === undefined ? '' : ` --only ${group}`}`,
    ];
  }
  if (count === partitions || (keepsPartitions === true && partitions > 1)) return [];
  const wanted = `it has ${count} partitions and should have ${partitions}: `;
  if (keepsPartitions === true)
    return [`${wanted}its readers rely on it, so create it again with that number`];
  return [
    wanted +
      (count < partitions
        ? `add them with npx tailrace topics apply --partitions ${partitions}`
        : `set TAILRACE_PARTITIONS to ${count}`),
  ];
}

function replicationDifference(
  { name, replicationFactor = 0 }: TopicSpec,
  { replicationFactor: is }: TopicDescription,
): string[] {
  if (is >= replicationFactor) return [];
  return [
    `it has ${is === 1 ? '1 replica' : `${is} replicas`} and should have ${replicationFactor}: add them with ` +
      `kafka-reassign-partitions.sh --execute, with a plan that names ${replicationFactor} brokers for each ` +
      `partition of ${name}`,
  ];
}
