/** Stand-ins for the images that compose.yaml pulls, where no image can be pulled: the same interface, the same programs. */
import { cp, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { resolveJars } from '@tailrace/local';
import type { ToolName } from '../tools/catalogue.ts';
import { toolPath } from '../tools/tools.ts';
import type { Engine } from './engine.ts';

/** The interface of Kafka's image that compose.yaml uses: other KAFKA_<PROPERTY> than KAFKA_HEAP_OPTS are properties, and the first start formats the data. */
const startKafka = `#!/bin/sh
set -eu
env | sed -n '/^KAFKA_HEAP_OPTS=/d; s/^KAFKA_//p' | while IFS='=' read -r name value; do
  echo "$(echo "$name" | tr 'A-Z_' 'a-z.')=$value"
done > /tmp/server.properties
java -cp '/opt/kafka/*' kafka.tools.StorageTool format --ignore-formatted --cluster-id "$CLUSTER_ID" --config /tmp/server.properties
exec java $KAFKA_HEAP_OPTS -XX:TieredStopAtLevel=1 -cp '/opt/kafka/*' kafka.Kafka /tmp/server.properties
`;

/** Builds Kafka, on the Debian of `buildStandIn`, as `image`. */
export async function buildKafkaStandIn({ docker, folder }: Engine, image: string): Promise<void> {
  const context = path.join(folder, 'kafka');
  await mkdir(context);
  const classPath = await resolveJars(process.env, () => undefined, new AbortController().signal);
  const [jar = ''] = classPath.split(path.delimiter);
  await cp(path.dirname(jar), path.join(context, 'jars'), { recursive: true });
  await writeFile(path.join(context, 'start.sh'), startKafka, { mode: 0o755 });
  const lines = [
    'FROM stand-in-debian',
    'RUN apt-get update && apt-get install -y --no-install-recommends openjdk-17-jre-headless && useradd --uid 1000 kafka' +
      ' && mkdir -p /var/lib/kafka/data && chown kafka /var/lib/kafka/data',
    'COPY jars /opt/kafka',
    'COPY start.sh /start.sh',
    'USER kafka',
    'ENTRYPOINT ["/start.sh"]',
  ];
  await writeFile(path.join(context, 'Dockerfile'), lines.join('\n'));
  await docker(['build', '--network', 'host', '--tag', image, context]);
}

/** Builds Prometheus, from Debian's package, as `image`. */
export async function buildPrometheusStandIn(engine: Engine, image: string): Promise<void> {
  await buildProgram(engine, image, {
    program: 'prometheus',
    as: '/bin/prometheus',
    lines: [
      'RUN mkdir /prometheus && chown 65534:65534 /prometheus',
      'CMD ["--config.file=/etc/prometheus/prometheus.yml", "--storage.tsdb.path=/prometheus"]',
    ],
  });
}

/** Builds an image, on the Debian of `buildStandIn`, that runs a program. */
export async function buildProgram(
  { docker, folder }: Engine,
  image: string,
  {
    program,
    as,
    lines = [],
  }: { readonly program: ToolName; readonly as: string; readonly lines?: readonly string[] },
): Promise<void> {
  const context = path.join(folder, program);
  await mkdir(context);
  await cp(await toolPath(program), path.join(context, 'program'), { dereference: true });
  const all = [
    'FROM stand-in-debian',
    `COPY --chmod=755 program ${as}`,
    ...lines,
    'USER 65534:65534',
    `ENTRYPOINT ["${as}"]`,
  ];
  await writeFile(path.join(context, 'Dockerfile'), all.join('\n'));
  await docker(['build', '--network', 'host', '--tag', image, context]);
}
