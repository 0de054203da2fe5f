/** Commands that change one thing of a source or a destination, each a single request that may be repeated. */
import { openApi, pathOf, type Api } from './api.ts';
import { defineCommand, exitCodes, type Command, type OptionSpecs, type Outcome } from './command.ts';
import { printable } from './table.ts';

const kinds = ['source', 'destination'] as const;

const destination = {
  type: 'string',
  positional: true,
  required: true,
  placeholder: 'DESTINATION',
  help: "the destination's id",
} as const;
const source = {
  type: 'string',
  positional: true,
  required: true,
  placeholder: 'SOURCE',
  help: "the source's id",
} as const;
const event = {
  type: 'string',
  positional: true,
  required: true,
  placeholder: 'EVENT',
  help: 'the name of a track event, as it is sent',
} as const;
const id = { type: 'string', positional: true, required: true, placeholder: 'ID', help: 'its id' } as const;

const inForce = 'It is in force in all services within two seconds.';

function done(sentence: string, json: unknown): Outcome {
  return { exitCode: exitCodes.done, text: [printable(sentence)], json: json ?? {} };
}

function collectionOf(kind: (typeof kinds)[number]): string {
  return `${kind}s`;
}

/** The commands that differ in a verb only. */
function change<const Specs extends OptionSpecs>(
  definition: Pick<Command, 'name' | 'summary' | 'examples'> & {
    readonly details?: readonly string[];
    readonly options: Specs;
    readonly ask: (api: Api, names: Readonly<Record<keyof Specs, string>>) => Promise<unknown>;
    readonly tell: (names: Readonly<Record<keyof Specs, string>>) => string;
  },
): Command {
  const { name, summary, details = [inForce], examples, options, ask, tell } = definition;
  return defineCommand({
    name,
    summary,
    details,
    examples,
    through: 'api',
    options,
    async run(given, context) {
      const names = given as Readonly<Record<keyof Specs, string>>;
      return done(tell(names), await ask(openApi(context), names));
    },
  });
}

const connect = change({
  name: 'connect',
  summary: "send a source's events to a destination",
  examples: ['connect crm web'],
  options: { destination, source },
  ask: (api, names) => api.send('PUT', pathOf('destinations', names.destination, 'sources', names.source)),
  tell: (names) => `${names.destination} gets the events of ${names.source}.`,
});

const disconnect = change({
  name: 'disconnect',
  summary: "stop sending a source's events to a destination",
  details: [inForce, 'What was accepted before is still delivered.'],
  examples: ['disconnect crm web'],
  options: { destination, source },
  ask: (api, names) => api.send('DELETE', pathOf('destinations', names.destination, 'sources', names.source)),
  tell: (names) => `${names.destination} no longer gets the events of ${names.source}.`,
});

const enabling = (['enable', 'disable'] as const).flatMap((verb) =>
  kinds.map((kind) =>
    change({
      name: `${verb} ${kind}`,
      summary: `switch a ${kind} ${verb === 'enable' ? 'on' : 'off'}`,
      details: [
        inForce,
        ...(verb === 'enable'
          ? []
          : kind === 'source'
            ? ['Its calls are refused with 401 then.']
            : ['What waits for it becomes a dead letter, which tailrace replay brings back.']),
      ],
      examples: [`${verb} ${kind} ${kind === 'source' ? 'web' : 'crm'}`],
      options: { id },
      ask: (api, names) =>
        api.send('PATCH', pathOf(collectionOf(kind), names.id), { enabled: verb === 'enable' }),
      tell: (names) => `The ${kind} ${names.id} is switched ${verb === 'enable' ? 'on' : 'off'}.`,
    }),
  ),
);

const block = change({
  name: 'block',
  summary: 'no longer forward a track event of a source',
  details: [inForce, 'A blocked event is accepted and counted, and goes to no destination.'],
  examples: ["block web 'Debug Event'"],
  options: { source, event },
  ask: (api, names) => api.send('PUT', pathOf('sources', names.source, 'blocked-events', names.event)),
  tell: (names) => `“${names.event}” of ${names.source} is blocked.`,
});

const unblock = change({
  name: 'unblock',
  summary: 'forward a blocked track event again',
  examples: ["unblock web 'Debug Event'"],
  options: { source, event },
  ask: (api, names) => api.send('DELETE', pathOf('sources', names.source, 'blocked-events', names.event)),
  tell: (names) => `“${names.event}” of ${names.source} is no longer blocked.`,
});

const createWriteKey = defineCommand({
  name: 'create write-key',
  summary: 'add a write key to a source',
  details: ['To change a key: add one, move the clients to it, and delete the old one.'],
  examples: ['create write-key web'],
  through: 'api',
  options: { source },
  async run(options, context) {
    const path = pathOf('sources', options.source, 'write-keys');
    const answer = await openApi(context).send<{ readonly writeKey: string }>('POST', path);
    return done(`Write key: ${answer.writeKey}`, answer);
  },
});

const deleteWriteKey = change({
  name: 'delete write-key',
  summary: 'take a write key from a source',
  details: [
    inForce,
    'Calls with it are refused with 401 then. The last key of a source cannot be taken away.',
  ],
  examples: ['delete write-key web wk_old'],
  options: {
    source,
    key: { type: 'string', positional: true, required: true, placeholder: 'KEY', help: 'the write key' },
  },
  ask: (api, names) => api.send('DELETE', pathOf('sources', names.source, 'write-keys', names.key)),
  tell: (names) => `${names.source} no longer takes ${names.key}.`,
});

const deleting = kinds.map((kind) =>
  defineCommand({
    name: `delete ${kind}`,
    summary: `delete a ${kind}`,
    details: [
      kind === 'source'
        ? 'A source that destinations are connected to is not deleted, except with --force, which disconnects them.'
        : 'What waits for it becomes a dead letter.',
      'On a terminal it asks before.',
    ],
    examples: [kind === 'source' ? 'delete source web --force' : 'delete destination crm --yes'],
    through: 'api',
    options: {
      id,
      ...(kind === 'source' && {
        force: { type: 'boolean', help: 'also where destinations are connected to it' } as const,
      }),
      yes: { type: 'boolean', help: 'do not ask' },
    },
    async run(options, context) {
      const name = options.id;
      const force = 'force' in options && options.force;
      const api = openApi(context);
      if (!options.yes && !(await context.terminal.confirm(`Delete the ${kind} ${printable(name)}?`))) {
        return { exitCode: exitCodes.failed, text: ['Nothing was deleted.'], json: { deleted: false } };
      }
      const query = force ? { force: true } : {};
      await api.send('DELETE', pathOf(collectionOf(kind), name), undefined, query);
      return done(`The ${kind} ${name} is deleted.`, { deleted: true });
    },
  }),
);

export const switches: readonly Command[] = [
  ...[connect, disconnect, ...enabling, block, unblock],
  ...[createWriteKey, deleteWriteKey, ...deleting],
];
