/** The images of infra/images, built on an engine of the test. */
import path from 'node:path';
import type { TestContext } from 'node:test';
import { notRun } from '../not-run.ts';
import { startEngine, type Engine } from './engine.ts';
import { buildStandIn } from './stand-in.ts';

export const root = path.join(import.meta.dirname, '../../..');

export interface ImageBuilder {
  readonly engine: Engine;
  /** Builds a target of the Dockerfile as `image`. */
  build(target: string, image: string): Promise<void>;
}

/** @param engine has the network of the machine */
export async function imageBuilder(engine: Engine): Promise<ImageBuilder> {
  const base = await buildStandIn(engine);
  const from = ['--file', path.join(root, 'infra/images/Dockerfile'), '--build-arg', `NODE_IMAGE=${base}`];
  return {
    engine,
    async build(target, image) {
      await engine.docker(['build', '--network', 'host', ...from, '--target', target, '--tag', image, root]);
    },
  };
}

/** Starts an engine that is part of `opened`. Undefined, with the test named as not run, where the machine cannot. */
export async function openImageBuilder(
  t: TestContext,
  opened: AsyncDisposableStack,
): Promise<ImageBuilder | undefined> {
  try {
    return await imageBuilder(opened.use(await startEngine()));
  } catch (error) {
    const { message } = error as Error;
    if (!/dockerd|mmdebstrap/.test(message)) throw error;
    notRun(t, `it needs dockerd, mmdebstrap and root: ${message}`);
    return undefined;
  }
}
