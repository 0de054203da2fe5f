/** `tailrace topics list`: existing and missing topics. */
import type { Run } from '../command.ts';
import { withKafka } from '../kafka.ts';
import { requiredTopics } from './required-topics.ts';

export const listTopics: Run<unknown> = async (_values, context) => {
  const topics = await withKafka(context, async (kafka, settings) => {
    const existing = new Set(await kafka.listTopics());
    const required = requiredTopics(settings).map(({ name }) => name);
    const others = [...existing].filter(
      (name) => name.startsWith(settings.prefix) && !required.includes(name),
    );
    return [
      ...required.map((name) => ({ name, state: existing.has(name) ? 'exists' : 'missing' })),
      ...others.sort().map((name) => ({ name, state: 'not needed' })),
    ];
  });
  return {
    text: topics.map(({ name, state }) => `${state.padEnd(10)}  ${name}`),
    json: { topics },
  };
};
