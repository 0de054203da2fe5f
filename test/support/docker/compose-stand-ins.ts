/** Stand-ins for the images that compose.yaml pulls, where no image can be pulled: the same interface, the same programs. */
import { cp, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { resolveJars } from '@tailrace/local';
import { toolPath } from '../tools/tools.ts';
import type { Engine } from './engine.ts';

/** The interface of Kafka's image that compose.yaml uses: KAFKA_<PROPERTY> are properties; the first start formats the data. */
const startKafka = `#!/bin/sh
set -eu
env | sed -n 's/^KAFKA_//p' | while IFS='=' read -r name value; do
  echo "$(echo "$name" | tr 'A-Z_' 'a-z.')=$value"
done > /tmp/server.properties
java -cp '/opt/kafka/*' kafka.tools.StorageTool format --ignore-formatted --cluster-id "$CLUSTER_ID" --config /tmp/server.properties
exec java -Xmx512m -XX:TieredStopAtLevel=1 -cp '/opt/kafka/*' kafka.Kafka /tmp/server.properties
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
export async function buildPrometheusStandIn({ docker, folder }: Engine, image: string): Promise<void> {
  const context = path.join(folder, 'prometheus');
  await mkdir(context);
  await cp(await toolPath('prometheus'), path.join(context, 'prometheus'), { dereference: true });
  const lines = [
    'FROM stand-in-debian',
    'COPY prometheus /bin/prometheus',
    'RUN mkdir /prometheus && chown 65534:65534 /prometheus',
    'USER 65534:65534',
    'ENTRYPOINT ["/bin/prometheus", "--config.file=/etc/prometheus/prometheus.yml", "--storage.tsdb.path=/prometheus"]',
  ];
  await writeFile(path.join(context, 'Dockerfile'), lines.join('\n'));
  await docker(['build', '--network', 'host', '--tag', image, context]);
}
