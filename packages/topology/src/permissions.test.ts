import assert from 'node:assert/strict';
import { test } from 'node:test';
import { topicNames, topicSpecs } from './catalogue.ts';
import { permissions } from './permissions.ts';

test('every permission is about a topic that exists, or about names that begin with it', () => {
  const names = topicNames('');
  const specs = topicSpecs(names, { partitions: 1, retryScheduleMs: [1_000] });
  const topics = [...specs.map(({ name }) => name), names.eventsRestore];
  for (const { user, resources } of permissions) {
    for (const { name, patternType, prefixed, type } of resources) {
      if (!prefixed || ['router', 'delivery'].includes(name)) continue;
      const isKnown = topics.some((topic) =>
        type === 'topic' && patternType === 'literal'
          ? topic === name
          : topic.startsWith(name) || name.startsWith(topic),
      );
      assert.ok(isKnown, `${user}: ${type} ${name}`);
    }
  }
});

test('a user has each resource once, and Describe only where no operation includes it', () => {
  for (const { user, resources } of permissions) {
    const names = resources.map(({ type, patternType, name }) => `${type} ${patternType} ${name}`);
    assert.equal(new Set(names).size, names.length, user);
    for (const { name, type, operations } of resources) {
      const isIncluded = operations.some((operation) => ['Read', 'Write'].includes(operation));
      assert.ok(!(isIncluded && operations.includes('Describe')), `${user}: ${type} ${name}`);
    }
  }
});
