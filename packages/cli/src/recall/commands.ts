import { apiNotes, group, type Declare } from '../declare.ts';

export const declareRecall: Declare = (program, action) => {
  program
    .command('retry')
    .summary('attempt the pending retries of a destination now')
    .description(
      'Attempt the pending retries of a destination now, as fast as the receiver accepts them. Each delivery keeps ' +
        'its position in the retry schedule. Deliveries that fail later are not included.\n\n' +
        'This happens automatically when a receiver recovers; use it if you know earlier.',
    )
    .requiredOption('--destination <id>', 'the id of the destination')
    .option('--wait', 'wait until it is done')
    .addHelpText('after', apiNotes('retry --destination crm --wait'))
    .action(action(async () => (await import('./recall.ts')).retry));
  program
    .command('drain')
    .summary('turn the pending retries of a destination into dead letters')
    .description(
      'Turn the pending retries of a destination into dead letters with the reason "drained". "tailrace replay" ' +
        'publishes them again. The destination may be disabled or deleted. Asks for confirmation on a terminal.',
    )
    .requiredOption('--destination <id>', 'the id of the destination')
    .option('--wait', 'wait until it is done')
    .option('--yes', 'do not ask for confirmation')
    .addHelpText('after', apiNotes('drain --destination crm', 'drain --destination crm --yes --wait'))
    .action(action(async () => (await import('./recall.ts')).drain));
  group(program, 'get')
    .command('recall')
    .summary('show the progress of the last retry or drain of a destination')
    .description('Show the progress of the last "tailrace retry" or "tailrace drain" of a destination.')
    .argument('<id>', 'the id of the destination')
    .addHelpText('after', apiNotes('get recall crm'))
    .action(action(async () => (await import('./recall.ts')).getRecall));
};
