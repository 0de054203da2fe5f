import assert from 'node:assert/strict';
import { test } from 'node:test';
import { schemaProblems } from '../../support/kubernetes/kubeconform.ts';

const problemsOf = (manifest: object): string => schemaProblems([manifest]);

const topic = {
  apiVersion: 'kafka.strimzi.io/v1',
  kind: 'KafkaTopic',
  metadata: { name: 'events' },
  spec: { partitions: 3, replicas: 3, config: { 'retention.ms': 1 } },
};

test('the schemas accept a valid object of Kubernetes and a custom resource', () => {
  assert.equal(problemsOf(topic), '');
  assert.equal(
    problemsOf({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'a' },
      spec: { ports: [{ port: 80 }] },
    }),
    '',
  );
});

test('the schemas refuse an unknown field, a wrong type and an unknown kind', () => {
  assert.match(problemsOf({ ...topic, spec: { ...topic.spec, partition: 3 } }), /'partition' not allowed/);
  assert.match(problemsOf({ ...topic, spec: { partitions: 'three' } }), /got string, want integer/);
  assert.match(
    problemsOf({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'a' },
      spec: { ports: [{ prot: 80 }] },
    }),
    /'prot' not allowed/,
  );
  assert.match(
    problemsOf({ apiVersion: 'v1', kind: 'Servise', metadata: { name: 'a' } }),
    /could not find schema for Servise/,
  );
});
