/**
 * The settings, topics and refused networks of the code, for the templates of infra/chart. Helm cannot run the code, so
 * it reads these files, and a test fails where they are not current.
 */
import { fileVariable, formatValue, variablesOf } from '@tailrace/service';
import { topicNames, topicSpecs } from '@tailrace/topology';
import { ipv6GlobalUnicast, refusedNetworks } from '../../../packages/webhook/src/address.ts';
import { settingsByProcess } from './settings.ts';

const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

/** For each process and setting: whether it is secret, the variable with its file, and its default. */
export function settingsFile(): string {
  const describe = (variable: ReturnType<typeof variablesOf>[number]) => ({
    ...(variable.writeOnly === true && { secret: true, file: fileVariable(variable) }),
    ...(variable.default !== undefined && { default: formatValue(variable, variable.default) }),
  });
  const processes = Object.entries(settingsByProcess).map(([name, settings]) => {
    const variables = variablesOf(settings).map((variable) => [variable.env, describe(variable)] as const);
    return [name, Object.fromEntries(variables)] as const;
  });
  return json(Object.fromEntries(processes));
}

/** More than any topic has, so that it marks the topics whose number is a setting. */
const asConfigured = 9_999;
const tierDelayMs = 1;

/** The topics without prefix. One entry stands for the retry topics, whose names end in a delay of the schedule. */
export function topicsFile(): string {
  const names = topicNames('');
  const specs = topicSpecs(names, { partitions: asConfigured, retryScheduleMs: [tierDelayMs] });
  return json(
    specs.map(({ name, partitions, config }) => {
      const isTier = name === names.retryTier(tierDelayMs);
      return {
        name: isTier ? name.slice(0, name.lastIndexOf('.') + 1) : name,
        ...(isTier && { forEachDelay: true }),
        ...(partitions !== asConfigured && { partitions }),
        config,
      };
    }),
  );
}

/** The networks that webhooks reach, as blocks of a NetworkPolicy. */
export function networksFile(): string {
  return json([
    { cidr: '0.0.0.0/0', except: refusedNetworks.ipv4 },
    { cidr: ipv6GlobalUnicast, except: refusedNetworks.ipv6 },
  ]);
}
