/** The routes that pause a destination and resume it. */
import type { ConfigEditor, Destination } from '@tailrace/config';
import { isTailraceError } from '@tailrace/errors';
import type { Log } from '@tailrace/service';
import { ifMatch } from '../../http/schemas.ts';
import { routesOf, type Api } from '../../http/api.ts';
import { destinationAnswer, destinationErrors } from './routes.ts';
import { destinationEntries } from './destination.ts';
import { mergePatch } from '../entry/merge-patch.ts';

export interface PauseNeeds {
  readonly config: ConfigEditor;
  /** To send the deliveries of a destination that is resumed. */
  readonly recalls: {
    find(destinationId: string): { readonly kind: string; readonly state: string } | undefined;
    request(kind: 'retry', destinationId: string): Promise<unknown>;
  };
  readonly log: Pick<Log, 'warn'>;
}

export function pauseRoutes(app: Api, { config, recalls, log }: PauseNeeds): void {
  const route = routesOf(app, 'Destinations', destinationErrors);
  const { change, changeAndShow } = destinationEntries(config);
  const schema = { headers: ifMatch, response: destinationAnswer };

  route.post('/destinations/:id/pause', {
    ...schema,
    operationId: 'pauseDestination',
    summary: 'Pause a destination',
    description:
      'Its deliveries wait until it is resumed: nothing is attempted, retry windows do not run, and nothing is lost. ' +
      'Attempts in flight end normally. A test event can still be sent.',
    handler: (request, reply) =>
      changeAndShow(request, reply, 'pause', (stored) =>
        stored.paused ? stored : { ...stored, paused: true },
      ),
  });

  route.post('/destinations/:id/resume', {
    ...schema,
    operationId: 'resumeDestination',
    summary: 'Resume a paused destination',
    description:
      'The deliveries that waited are sent oldest first, at the pace of the receiver and within the rateLimit, beside new ' +
      'ones. Their retry windows begin with their next attempt. `GET /v1/destinations/{id}/recall` shows the progress.',
    handler: async (request, reply) => {
      const { shown, isWritten } = await change(request, reply, 'resume', (stored) =>
        stored.paused ? (mergePatch(stored, { paused: null }) as Destination) : stored,
      );
      if (isWritten) await recall(shown.id);
      return shown;
    },
  });

  /**
   * Delivery recalls the deliveries of a resumed destination by itself. A request is kept in Kafka, so it is continued
   * after a restart, and shows its progress. A drain in progress continues.
   */
  async function recall(id: string): Promise<void> {
    const latest = recalls.find(id);
    if (latest?.kind === 'drain' && latest.state === 'running') return;
    try {
      await recalls.request('retry', id);
    } catch (error) {
      if (!isTailraceError(error)) throw error;
      log.warn({ err: error, destinationId: id }, 'recall after a resume not requested');
    }
  }
}
