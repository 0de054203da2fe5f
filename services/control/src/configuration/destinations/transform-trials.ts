/** Runs transforms for requests: to try them, and to find out whether one that is to be saved can be loaded. */
import { problemsError, transformProblem, type Destination } from '@tailrace/config';
import { failureText, type TransformResult, type TransformRun, type Transforms } from '@tailrace/transform';
import type { FastifyRequest } from 'fastify';
import { Places, type Asker } from '../../access/places.ts';

export class TransformTrials {
  readonly #transforms: Pick<Transforms, 'run'>;
  readonly #places = new Places('transformTests');

  constructor(transforms: Pick<Transforms, 'run'>) {
    this.#transforms = transforms;
  }

  /** Not in the turns of the destination itself, of which replays are waiting. */
  async run(asker: Asker, id: string, run: Omit<TransformRun, 'owner'>): Promise<TransformResult> {
    using _place = this.#places.take(asker, id);
    return await this.#transforms.run({ ...run, owner: `test/${id}` });
  }

  /**
   * Of a script that cannot be loaded, or has no function, all events would become dead letters. It is loaded as the router does; what its
   * function does with an event is not considered. Other problems are found by the validation.
   *
   * @throws TailraceError `invalid-configuration`
   */
  async check({ body, caller }: FastifyRequest, stored: Destination | undefined): Promise<void> {
    const { transform } = (body ?? {}) as { readonly transform?: { readonly code?: unknown } | null };
    const code = transform?.code;
    if (typeof code !== 'string' || code === stored?.transform?.code || transformProblem(code) !== undefined)
      return;
    const result = await this.run(caller, stored?.id ?? '', { code, event: '{}' });
    if (result.outcome !== 'failed' || result.error.isOfScript !== true) return;
    const message = `cannot be loaded: ${failureText(result.error)}`;
    throw problemsError([{ path: ['transform', 'code'], message, about: 'value' }]);
  }
}
