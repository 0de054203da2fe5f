/** Commands that change one property of an entry, or delete it. All may be repeated. */
import type { Schema } from '@tailrace/api';
import { isTailraceError } from '@tailrace/errors';
import type { ApiRun } from '../api/call.ts';
import type { ApiContext } from '../api/client.ts';
import { pathOf } from '../api/path.ts';
import { done } from '../api/show.ts';
import { printable, quoted } from '../terminal/table.ts';
import { apiCommand, flag, text, type Declared } from '../declare.ts';
import { inParallel } from '../in-parallel.ts';

const delay = 'All services apply the change within two seconds.';
const source = { '<source>': 'the id of the source' };
const destination = { '<destination>': 'the id of the destination' };
const rotation = {
  keepPreviousFor: text(
    '<duration>',
    'how long the previous secret still signs, from 0s to 30d (default: 24h)',
  ),
  force: flag('drop a secret that an earlier rotation still keeps'),
};
const kinds = ['source', 'destination', 'notification'] as const;
const exampleOf = { source: 'web', destination: 'crm', notification: 'on-call' };

export const changeCommands: readonly Declared[] = [
  apiCommand({
    words: 'connect',
    summary: 'send the events of a source to a destination',
    description: `Send the events of a source to a destination. ${delay} The commands that send it events and audiences from before are shown.`,
    arguments: { ...destination, ...source },
    examples: ['connect crm web'],
    async request({ destination, source }, { api }) {
      const path = pathOf('destinations', destination, 'sources', source);
      const answer = await api.send<Schema['Destination']>('PUT', path);
      const said = `${destination} gets the events of ${source}.`;
      if (!answer.enabled) return done(said, answer);
      return done([said, ...(await fromBefore(destination, [source], api))], answer);
    },
  }),
  apiCommand({
    words: 'disconnect',
    summary: 'stop sending the events of a source to a destination',
    description: `Stop sending the events of a source to a destination. ${delay} Events accepted before are still delivered.`,
    arguments: { ...destination, ...source },
    examples: ['disconnect crm web'],
    async request({ destination, source }, { api }) {
      const answer = await api.send('DELETE', pathOf('destinations', destination, 'sources', source));
      return done(`${destination} no longer gets the events of ${source}.`, answer);
    },
  }),
  ...(['enable', 'disable'] as const).flatMap((verb) => kinds.map((kind) => switchCommand(verb, kind))),
  pauseCommand(
    'pause',
    'let the deliveries of a destination wait',
    `Let the deliveries of a destination wait until it is resumed. ${delay} Nothing is sent, retry windows do not run, and nothing ` +
      'is lost however long it takes. Attempts in flight end normally. "tailrace test" still sends its sample.',
    (id) => `The destination ${id} is paused. Its deliveries wait until it is resumed.`,
  ),
  pauseCommand(
    'resume',
    'send the deliveries that waited for a paused destination',
    'Send the deliveries that waited for a paused destination, oldest first, at the pace of the receiver and within its ' +
      `rateLimit, beside new ones. ${delay} "tailrace get recall" shows the progress.`,
    (id) => `The destination ${id} is resumed. To see the progress: tailrace get recall ${id}`,
  ),
  apiCommand({
    words: 'rotate secret',
    summary: 'make a new secret for a destination',
    description:
      'Make a new secret for a destination, and show it once. Until the time that is shown, requests are signed with the previous ' +
      'secret too: webhook-signature contains both signatures, and X-Signature, a single one, is made with the previous ' +
      'secret. Give the receiver the new secret beside the previous one before that time.',
    arguments: destination,
    options: rotation,
    examples: ['rotate secret crm', 'rotate secret crm --keep-previous-for 72h', 'rotate secret crm -o json'],
    async request({ destination, keepPreviousFor, force }, { api }) {
      const path = pathOf('destinations', destination, 'rotate-secret');
      const body = { keepPreviousFor, force };
      const rotated = await api.send<Schema['RotateSecretAnswer']>('POST', path, body);
      const until = rotated.previousSharedSecretUntil;
      return done(
        [
          `New secret: ${rotated.sharedSecret}`,
          'It is not shown again.',
          until === undefined
            ? 'All requests are signed with it from now on.'
            : `The previous secret still signs until ${until}: give the receiver the new one beside it before that time.`,
        ],
        rotated,
      );
    },
  }),
  apiCommand({
    words: 'rotate signing-key',
    summary: 'make a new Ed25519 key for a destination',
    description:
      'Make a new Ed25519 key for a destination, also its first one. The public key is published at ' +
      '/.well-known/tailrace/jwks.json of control. Until the time that is shown, webhook-signature has the signatures of the ' +
      'previous key too. With --keep-previous-for 0s a key that has leaked ends at once.',
    arguments: destination,
    options: rotation,
    examples: ['rotate signing-key crm', 'rotate signing-key crm --keep-previous-for 0s --force'],
    async request({ destination, keepPreviousFor, force }, { api }) {
      const path = pathOf('destinations', destination, 'rotate-signing-key');
      const body = { keepPreviousFor, force };
      const rotated = await api.send<Schema['RotateSigningKeyAnswer']>('POST', path, body);
      const until = rotated.previousKeyUntil;
      return done(
        [
          `New public key: ${rotated.publicKey}`,
          until === undefined
            ? 'All requests are signed with it from now on.'
            : `The previous key still signs until ${until}: receivers need the new one by then.`,
        ],
        rotated,
      );
    },
  }),
  blockCommand(
    'block',
    'stop forwarding a track event of a source',
    `Stop forwarding a track event of a source. ${delay} A blocked event is accepted and counted, and sent to no destination.`,
  ),
  blockCommand(
    'unblock',
    'forward a blocked track event again',
    `Forward a blocked track event again. ${delay}`,
  ),
  apiCommand({
    words: 'create write-key',
    summary: 'add a write key to a source',
    description:
      'Add a write key to a source.\n\n' +
      'To rotate a key, add a new one, move the clients to it, and delete the old one.',
    arguments: source,
    examples: ['create write-key web'],
    async request({ source }, { api }) {
      const path = pathOf('sources', source, 'write-keys');
      const created = await api.send<Schema['AddWriteKeyAnswer']>('POST', path);
      return done(`Write key: ${created.writeKey}`, created);
    },
  }),
  apiCommand({
    words: 'delete write-key',
    summary: 'delete a write key of a source',
    description: `Delete a write key of a source. ${delay} Calls with this key are then refused with 401. The last key of a source cannot be deleted.`,
    arguments: { ...source, '<key>': 'the write key' },
    examples: ['delete write-key web wk_old'],
    async request({ source, key }, { api }) {
      const answer = await api.send('DELETE', pathOf('sources', source, 'write-keys', key));
      return done(`${source} no longer accepts ${key}.`, answer);
    },
  }),
  apiCommand({
    words: 'delete source',
    summary: 'delete a source',
    description:
      'Delete a source. A source with connected destinations is deleted only with --force, which disconnects ' +
      'them. Asks for confirmation on a terminal.',
    arguments: { '<id>': 'the id of the source' },
    options: { force: flag('disconnect its destinations, and delete it') },
    examples: ['delete source web --force'],
    ...deleting('source'),
  }),
  apiCommand({
    words: 'delete destination',
    summary: 'delete a destination',
    description:
      'Delete a destination. Its pending deliveries become dead letters. Asks for confirmation on a terminal.',
    arguments: { '<id>': 'the id of the destination' },
    examples: ['delete destination crm --yes'],
    ...deleting('destination'),
  }),
  apiCommand({
    words: 'delete notification',
    summary: 'delete a notification',
    description: 'Delete a notification. Asks for confirmation on a terminal.',
    arguments: { '<id>': 'the id of the notification' },
    examples: ['delete notification on-call --yes'],
    ...deleting('notification'),
  }),
];

function switchCommand(verb: 'enable' | 'disable', kind: (typeof kinds)[number]): Declared {
  const effects = {
    'enable source': '',
    'enable destination':
      ' The commands that send it events and audiences from before are shown; where disableAfter has disabled it, the one that sends what it missed.',
    'enable notification': '',
    'disable notification': ' Nothing is told. What is open then is told when it is enabled again.',
    'disable source': ' Its calls are then refused with 401.',
    'disable destination':
      ' Its pending deliveries become dead letters, which "tailrace replay" publishes again.',
  };
  const words = `${verb} ${kind}` as const;
  return apiCommand({
    words,
    summary: `${verb} a ${kind}`,
    description: `${verb === 'enable' ? 'Enable' : 'Disable'} a ${kind}. ${delay}${effects[words]}`,
    arguments: { '<id>': `the id of the ${kind}` },
    examples: [`${words} ${exampleOf[kind]}`],
    async request({ id }, { api }) {
      const missedFrom = words === 'enable destination' ? await missedFromOf(id, api) : undefined;
      const path = pathOf(`${kind}s`, id);
      const answer = await api.send<Partial<Schema['Destination']>>('PATCH', path, {
        enabled: verb === 'enable',
      });
      const said = `The ${kind} ${id} is ${verb}d.`;
      if (words !== 'enable destination') return done(said, answer);
      if (missedFrom === undefined) {
        return done([said, ...(await fromBefore(id, answer.sources ?? [], api))], answer);
      }
      const replay = `tailrace replay events --destination ${id} --from ${missedFrom}`;
      return done([said, `To send what it missed: ${replay}`], answer);
    },
  });
}

const shownAudiences = 5;

/** How to send a destination what it was not sent before it was connected or enabled. */
async function fromBefore(
  destination: string,
  sources: readonly string[],
  api: ApiContext['api'],
): Promise<string[]> {
  if (sources.length === 0) return [];
  const named = sources.length === 1 ? ` --source ${sources[0]}` : '';
  const audiences = await inParallel(8, sources, (source) =>
    ifKnown(api.list<Schema['Audience']>(pathOf('sources', source, 'audiences'), {}, shownAudiences)),
  );
  return [
    `To send the last 7 days: tailrace replay events --destination ${destination}${named} --from 7d`,
    ...sources.flatMap((source, index) =>
      (audiences[index]?.items ?? []).map(({ name }) => {
        const audience = `${source} ${quoted(printable(name))}`;
        return `To send the members: tailrace audience sync ${audience} --destination ${destination}`;
      }),
    ),
  ];
}

async function missedFromOf(id: string, api: ApiContext['api']): Promise<string | undefined> {
  const path = pathOf('destinations', id, 'health');
  return (await ifKnown(api.get<Schema['DestinationHealth']>(path)))?.outage?.missedFrom;
}

/** Undefined where the answer is not known now, or not for this token. */
async function ifKnown<Answer>(answer: Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (isTailraceError(error)) return undefined;
    throw error;
  }
}

function pauseCommand(
  verb: 'pause' | 'resume',
  summary: string,
  description: string,
  said: (id: string) => string,
): Declared {
  return apiCommand({
    words: `${verb} destination`,
    summary,
    description,
    arguments: { '<id>': 'the id of the destination' },
    examples: [`${verb} destination crm`],
    async request({ id }, { api }) {
      return done(said(id), await api.send('POST', pathOf('destinations', id, verb)));
    },
  });
}

function blockCommand(words: 'block' | 'unblock', summary: string, description: string): Declared {
  return apiCommand({
    words,
    summary,
    description,
    arguments: { ...source, '<event>': 'the name of the track event' },
    examples: [`${words} web 'Debug Event'`],
    async request({ source, event }, { api }) {
      const method = words === 'block' ? 'PUT' : 'DELETE';
      const path = pathOf('sources', source, 'blocked-events');
      const answer = await api.send(method, path, undefined, { event });
      return done(`“${event}” of ${source} is ${words === 'block' ? '' : 'no longer '}blocked.`, answer);
    },
  });
}

function deleting(kind: (typeof kinds)[number]): ApiRun<{ readonly id: string; readonly force?: true }> {
  return {
    confirm: {
      question: ({ id }) => `Delete the ${kind} ${id}?`,
      refused: { text: ['Nothing was deleted.'], json: { deleted: false } },
    },
    async request({ id, force }, { api }) {
      await api.send('DELETE', pathOf(`${kind}s`, id), undefined, { force });
      return done(`The ${kind} ${id} is deleted.`, { deleted: true });
    },
  };
}
