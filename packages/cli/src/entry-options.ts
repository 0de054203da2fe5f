/** The options for fields of sources and destinations, which `create` and `update` share. */
import type { Command } from 'commander';
import { choice, integer, repeatable } from './declare.ts';

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

export function sourceFields(command: Command, verb: Verb): Command {
  const text = sourceTexts[verb];
  return command
    .option('--name <name>', text.name)
    .addOption(repeatable('--write-key <key>', text.key))
    .addOption(repeatable('--block <event>', text.block))
    .addOption(rateLimit('allow at most N calls a second'))
    .addOption(integer('--rate-limit-bytes <n>', 'allow at most N bytes a second', 1_024, 1_000_000_000))
    .option('--add-ip', "add the sender's IP address to events, as context.ip");
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

export function destinationFields(command: Command, verb: Verb): Command {
  const text = destinationTexts[verb];
  return command
    .option('--name <name>', text.name)
    .addOption(repeatable('--url <url>', text.url))
    .addOption(repeatable('--header <header>', text.header))
    .addOption(repeatable('--secret-header <header>', text.secretHeader))
    .option('--secret <secret>', text.secret)
    .addOption(repeatable('--source <id>', text.source))
    .addOption(rateLimit('send at most N requests a second'))
    .addOption(
      choice('--ordering <ordering>', 'user: deliver the events of a user in order', ['none', 'user']),
    );
}

const rateLimit = (description: string) => integer('--rate-limit <n>', description, 1, 1_000_000);
