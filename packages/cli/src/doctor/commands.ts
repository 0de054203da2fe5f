import { notes, repeatable, type Declare } from '../declare.ts';

export const declareDoctor: Declare = (program, action) => {
  program
    .command('doctor')
    .summary('check brokers, topics, lag, services, clocks and settings')
    .description(
      'Check brokers, topics, lag, services, clocks and settings. Changes nothing.\n\n' +
        'Failures exit with 1; warnings do not change the exit code. Run it with the settings of the services, ' +
        'because it also compares the settings with the topics.',
    )
    .option('--ingest <url>', 'address of ingest (default: http://localhost:8080)')
    .addOption(
      repeatable(
        '--probe <url>',
        'address of the probes of a service (default: the standard ports on localhost)',
      ),
    )
    .addHelpText(
      'after',
      notes({
        examples: [
          'doctor',
          'doctor --output json',
          'doctor --ingest https://events.example.com --probe http://10.1.2.3:9465',
        ],
        reads: ['api', 'kafka', 'schemas', 'retryWindow'],
      }),
    )
    .action(action(async () => (await import('./doctor.ts')).doctor));
};
