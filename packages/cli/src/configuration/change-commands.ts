/** Commands that change one property of a source or a destination, or delete it. */
import { apiNotes, group, type Declare } from '../declare.ts';

const delay = 'All services apply the change within two seconds.';

export const declareChanges: Declare = (program, action) => {
  program
    .command('connect')
    .summary('send the events of a source to a destination')
    .description(`Send the events of a source to a destination. ${delay}`)
    .argument('<destination>', 'the id of the destination')
    .argument('<source>', 'the id of the source')
    .addHelpText('after', apiNotes('connect crm web'))
    .action(action(async () => (await import('./changes.ts')).connect));
  program
    .command('disconnect')
    .summary('stop sending the events of a source to a destination')
    .description(
      `Stop sending the events of a source to a destination. ${delay} Events accepted before are still delivered.`,
    )
    .argument('<destination>', 'the id of the destination')
    .argument('<source>', 'the id of the source')
    .addHelpText('after', apiNotes('disconnect crm web'))
    .action(action(async () => (await import('./changes.ts')).disconnect));

  const effects = {
    'enable source': '',
    'enable destination': '',
    'disable source': ' Its calls are then refused with 401.',
    'disable destination':
      ' Its pending deliveries become dead letters, which "tailrace replay" publishes again.',
  };
  for (const verb of ['enable', 'disable'] as const) {
    const parent = group(program, verb).summary(`${verb} a source or a destination`);
    for (const kind of ['source', 'destination'] as const) {
      parent
        .command(kind)
        .summary(`${verb} a ${kind}`)
        .description(`${capitalized(verb)} a ${kind}. ${delay}${effects[`${verb} ${kind}`]}`)
        .argument('<id>', `the id of the ${kind}`)
        .addHelpText('after', apiNotes(`${verb} ${kind} ${kind === 'source' ? 'web' : 'crm'}`))
        .action(action(async () => (await import('./changes.ts')).setEnabled(kind, verb === 'enable')));
    }
  }

  group(program, 'pause')
    .summary('let the deliveries of a destination wait')
    .command('destination')
    .summary('let the deliveries of a destination wait')
    .description(
      `Let the deliveries of a destination wait until it is resumed. ${delay} Nothing is sent, retry windows do not run, and nothing ` +
        'is lost however long it takes. Attempts in flight end normally. "tailrace test" still sends its sample.',
    )
    .argument('<id>', 'the id of the destination')
    .addHelpText('after', apiNotes('pause destination crm'))
    .action(action(async () => (await import('./changes.ts')).setPaused(true)));
  group(program, 'resume')
    .summary('send the deliveries that waited for a paused destination')
    .command('destination')
    .summary('send the deliveries that waited for a paused destination')
    .description(
      'Send the deliveries that waited for a paused destination, oldest first, at the pace of the receiver and within its ' +
        `rateLimit, beside new ones. ${delay} "tailrace get recall" shows the progress.`,
    )
    .argument('<id>', 'the id of the destination')
    .addHelpText('after', apiNotes('resume destination crm'))
    .action(action(async () => (await import('./changes.ts')).setPaused(false)));

  group(program, 'rotate')
    .summary('make a new secret for a destination')
    .command('secret')
    .summary('make a new secret for a destination')
    .description(
      'Make a new secret for a destination, and show it once. Until the time that is shown, requests are signed with the previous ' +
        'secret too: webhook-signature contains both signatures, and X-Signature, a single one, is made with the previous ' +
        'secret. Give the receiver the new secret beside the previous one before that time.',
    )
    .argument('<destination>', 'the id of the destination')
    .option(
      '--keep-previous-for <duration>',
      'how long the previous secret still signs, from 0s to 30d (default: 24h)',
    )
    .option('--force', 'drop a secret that an earlier rotation still keeps')
    .addHelpText(
      'after',
      apiNotes('rotate secret crm', 'rotate secret crm --keep-previous-for 72h', 'rotate secret crm -o json'),
    )
    .action(action(async () => (await import('./changes.ts')).rotateSecret));

  program
    .command('block')
    .summary('stop forwarding a track event of a source')
    .description(
      `Stop forwarding a track event of a source. ${delay} A blocked event is accepted and counted, and sent to no destination.`,
    )
    .argument('<source>', 'the id of the source')
    .argument('<event>', 'the name of the track event')
    .addHelpText('after', apiNotes("block web 'Debug Event'"))
    .action(action(async () => (await import('./changes.ts')).block));
  program
    .command('unblock')
    .summary('forward a blocked track event again')
    .description(`Forward a blocked track event again. ${delay}`)
    .argument('<source>', 'the id of the source')
    .argument('<event>', 'the name of the track event')
    .addHelpText('after', apiNotes("unblock web 'Debug Event'"))
    .action(action(async () => (await import('./changes.ts')).unblock));

  group(program, 'create')
    .command('write-key')
    .summary('add a write key to a source')
    .description(
      'Add a write key to a source.\n\n' +
        'To rotate a key, add a new one, move the clients to it, and delete the old one.',
    )
    .argument('<source>', 'the id of the source')
    .addHelpText('after', apiNotes('create write-key web'))
    .action(action(async () => (await import('./changes.ts')).createWriteKey));
  const deleting = group(program, 'delete').summary('delete a source, a destination or a write key');
  deleting
    .command('write-key')
    .summary('delete a write key of a source')
    .description(
      `Delete a write key of a source. ${delay} Calls with this key are then refused with 401. The last key of a source cannot be deleted.`,
    )
    .argument('<source>', 'the id of the source')
    .argument('<key>', 'the write key')
    .addHelpText('after', apiNotes('delete write-key web wk_old'))
    .action(action(async () => (await import('./changes.ts')).deleteWriteKey));
  deleting
    .command('source')
    .summary('delete a source')
    .description(
      'Delete a source. A source with connected destinations is deleted only with --force, which disconnects ' +
        'them. Asks for confirmation on a terminal.',
    )
    .argument('<id>', 'the id of the source')
    .option('--force', 'disconnect its destinations, and delete it')
    .option('--yes', 'do not ask for confirmation')
    .addHelpText('after', apiNotes('delete source web --force'))
    .action(action(async () => (await import('./changes.ts')).deleteEntry('source')));
  deleting
    .command('destination')
    .summary('delete a destination')
    .description(
      'Delete a destination. Its pending deliveries become dead letters. Asks for confirmation on a terminal.',
    )
    .argument('<id>', 'the id of the destination')
    .option('--yes', 'do not ask for confirmation')
    .addHelpText('after', apiNotes('delete destination crm --yes'))
    .action(action(async () => (await import('./changes.ts')).deleteEntry('destination')));
};

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
