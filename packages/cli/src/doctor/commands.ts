import { command, repeatable, text, type Declared } from '../declare.ts';

export const doctor: Declared = command({
  words: 'doctor',
  summary: 'check brokers, topics, lag, services, clocks and settings',
  description:
    'Check brokers, topics, replication, lag, every replica, versions, clocks and settings. Changes nothing.\n\n' +
    'With --event, an event goes through all services to a receiver in this process, which has the given address. The ' +
    'source and the destination "tailrace-doctor" exist only meanwhile.\n\n' +
    'Exits with 0 if nothing fails, 1 if a check fails, and 2 if no check fails but some could not be made, because ' +
    'settings are invalid or Kafka or DNS cannot be reached from here. Warnings do not change the exit code. Run it with ' +
    'the settings of the services, because it also compares the settings with the topics.\n\n' +
    'In a cluster, name the replicas with --service or TAILRACE_DOCTOR_TARGETS: every address of the host is a ' +
    'replica. Nothing is looked at that no option and no variable names: with TAILRACE_INGEST_PORT alone only ingest is. ' +
    'Where nothing is named, the default ports of npm start on this machine are used.\n\n' +
    'Destinations whose attempts of the last 15 minutes all failed are warnings.',
  options: {
    service: repeatable('<target>', 'all replicas of a service, as name=host:port of their metrics'),
    probe: repeatable('<url>', 'one replica, by the address of its metrics'),
    ingest: text('<url>', 'address of ingest'),
    event: text('<address>', 'send an event, and receive it at this address of this machine'),
  },
  examples: [
    'doctor',
    'doctor --output json',
    'doctor --event 127.0.0.1',
    'doctor --ingest https://events.example.com --probe http://10.1.2.3:9465',
    'doctor --service router=tailrace-router-pods:9465 --service delivery=tailrace-delivery-pods:9466',
    'kubectl create job doctor-1 --from=cronjob/tailrace-doctor && kubectl logs -f job/doctor-1',
  ],
  reads: ['api', 'kafka', 'schemas', 'retryWindow', 'doctor'],
  run: async (values, context) => (await import('./doctor.ts')).doctor(values, context),
});
