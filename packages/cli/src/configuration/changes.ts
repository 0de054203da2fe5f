/** Commands that change one property of a source or a destination, or delete it. All may be repeated. */
import type { Schema } from '@tailrace/api';
import { openApi, pathOf } from '../api/client.ts';
import { exitCodes, type Outcome, type Run } from '../command.ts';
import { printable } from '../terminal/table.ts';

type Kind = 'source' | 'destination';

interface Connection {
  readonly destination: string;
  readonly source: string;
}

interface SourceEvent {
  readonly source: string;
  readonly event: string;
}

export const connect: Run<Connection> = async ({ destination, source }, context) =>
  done(
    `${destination} gets the events of ${source}.`,
    await openApi(context).send('PUT', pathOf('destinations', destination, 'sources', source)),
  );

export const disconnect: Run<Connection> = async ({ destination, source }, context) =>
  done(
    `${destination} no longer gets the events of ${source}.`,
    await openApi(context).send('DELETE', pathOf('destinations', destination, 'sources', source)),
  );

export function setEnabled(kind: Kind, enabled: boolean): Run<{ readonly id: string }> {
  return async ({ id }, context) =>
    done(
      `The ${kind} ${id} is switched ${enabled ? 'on' : 'off'}.`,
      await openApi(context).send('PATCH', pathOf(`${kind}s`, id), { enabled }),
    );
}

export function setPaused(paused: boolean): Run<{ readonly id: string }> {
  return async ({ id }, context) =>
    done(
      paused
        ? `The destination ${id} is paused. Its deliveries wait until it is resumed.`
        : `The destination ${id} is resumed. To see the progress: tailrace get recall ${id}`,
      await openApi(context).send('POST', pathOf('destinations', id, paused ? 'pause' : 'resume')),
    );
}

interface Rotation {
  readonly destination: string;
  readonly keepPreviousFor?: string;
  readonly force?: boolean;
}

export const rotateSecret: Run<Rotation> = async ({ destination, keepPreviousFor, force }, context) => {
  const rotated = await openApi(context).send<Schema['RotateSecretAnswer']>(
    'POST',
    pathOf('destinations', destination, 'rotate-secret'),
    { keepPreviousFor, force },
  );
  const until = rotated.previousSharedSecretUntil;
  return {
    text: [
      `New secret: ${rotated.sharedSecret}`,
      'It is not shown again.',
      until === undefined
        ? 'All requests are signed with it from now on.'
        : `The previous secret still signs until ${until}: give the receiver the new one beside it before that time.`,
    ].map(printable),
    json: rotated,
  };
};

export const block: Run<SourceEvent> = async ({ source, event }, context) =>
  done(
    `“${event}” of ${source} is blocked.`,
    await openApi(context).send('PUT', pathOf('sources', source, 'blocked-events'), undefined, { event }),
  );

export const unblock: Run<SourceEvent> = async ({ source, event }, context) =>
  done(
    `“${event}” of ${source} is no longer blocked.`,
    await openApi(context).send('DELETE', pathOf('sources', source, 'blocked-events'), undefined, { event }),
  );

export const createWriteKey: Run<{ readonly source: string }> = async ({ source }, context) => {
  const path = pathOf('sources', source, 'write-keys');
  const created = await openApi(context).send<Schema['AddWriteKeyAnswer']>('POST', path);
  return done(`Write key: ${created.writeKey}`, created);
};

export const deleteWriteKey: Run<{ readonly source: string; readonly key: string }> = async (
  { source, key },
  context,
) =>
  done(
    `${source} no longer accepts ${key}.`,
    await openApi(context).send('DELETE', pathOf('sources', source, 'write-keys', key)),
  );

export function deleteEntry(
  kind: Kind,
): Run<{ readonly id: string; readonly force?: boolean; readonly yes?: boolean }> {
  return async ({ id, force, yes }, context) => {
    const api = openApi(context);
    if (!yes && !(await context.terminal.confirm(`Delete the ${kind} ${printable(id)}?`))) {
      return { exitCode: exitCodes.failed, text: ['Nothing was deleted.'], json: { deleted: false } };
    }
    await api.send('DELETE', pathOf(`${kind}s`, id), undefined, force ? { force } : {});
    return done(`The ${kind} ${id} is deleted.`, { deleted: true });
  };
}

function done(sentence: string, json: unknown): Outcome {
  return { text: [printable(sentence)], json: json ?? {} };
}
