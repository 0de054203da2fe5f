/** The options for fields of sources and destinations, which `create` and `update` share. */
import { choice, flag, integer, repeatable, text, type ValuesOf } from './declare.ts';

type Verb = 'create' | 'update';

const sourceTexts = {
  create: {
    name: 'a display name',
    key: 'a write key (default: generated)',
    block: 'a track event not to forward',
  },
  update: {
    name: 'the display name',
    key: 'the write keys, in place of the present ones',
    block: 'the blocked track events, in place of the present ones',
  },
};

export type SourceValues = ValuesOf<object, ReturnType<typeof sourceFields>>;

export function sourceFields(verb: Verb) {
  const { name, key, block } = sourceTexts[verb];
  return {
    name: text('<name>', name),
    writeKey: repeatable('<key>', key),
    block: repeatable('<event>', block),
    rateLimit: rateLimit('allow at most N calls a second'),
    rateLimitBytes: integer('allow at most N bytes a second', 1_024, 1_000_000_000),
    addIp: flag("add the sender's IP address to events, as context.ip"),
  };
}

const destinationTexts = {
  create: {
    name: 'a display name',
    url: 'a webhook URL; at most 5',
    header: "a request header, 'Name: value'; at most 5",
    secretHeader: 'a header whose value is encrypted and never shown',
    secret: 'the key that signs requests',
    source: 'a source to forward',
  },
  update: {
    name: 'the display name',
    url: 'the webhook URLs, in place of the present ones',
    header: "the request headers, 'Name: value'",
    secretHeader: 'request headers whose values are encrypted',
    secret: 'the key that signs requests; "tailrace rotate secret" makes one',
    source: 'the connected sources, in place of the present ones',
  },
};

export type DestinationValues = ValuesOf<object, ReturnType<typeof destinationFields>>;

export function destinationFields(verb: Verb) {
  const { name, url, header, secretHeader, secret, source } = destinationTexts[verb];
  return {
    name: text('<name>', name),
    url: repeatable('<url>', url),
    header: repeatable('<header>', header),
    secretHeader: repeatable('<header>', secretHeader),
    secret: text('<secret>', secret),
    source: repeatable('<id>', source),
    rateLimit: rateLimit('send at most N requests a second'),
    ordering: choice('<ordering>', 'user: deliver the events of a user in order', ['none', 'user']),
  };
}

const rateLimit = (description: string) => integer(description, 1, 1_000_000);
