/** Metrics of the process, which every service has. */
import { counter, gauge, metricsOf, services } from '../metric.ts';

export const processMetrics = metricsOf(
  { services },
  {
    tailrace_build_info: gauge('info', {
      labels: {
        version: { bound: 'one, that of the process' },
        revision: { bound: 'one, that of the process' },
      },
      help: 'Always 1. The labels are the version and the revision of the code.',
    }),
    tailrace_ready: gauge('boolean', {
      help: '1 while /readyz answers 200, else 0.',
    }),
    tailrace_check_ok: gauge('boolean', {
      labels: { check: { bound: 'the checks of the service, at most 6' } },
      help: '1 while the check succeeds, else 0. A check that fails later does not make the service unready, except kafka-elsewhere.',
    }),
    tailrace_clock_seconds: gauge('seconds', {
      help: 'The time of the clock of this machine, in seconds since 1970. Its difference to the time of the scrape is how wrong the clock is.',
    }),
    tailrace_event_loop_busy_seconds_total: counter('seconds', {
      help: 'Time in which the event loop was busy. Its rate is the busy share, from 0 to 1.',
    }),
    tailrace_spans_dropped_total: counter('spans', {
      help: 'Spans that were not exported, because the queue was full or the collector did not take them. 0 where tracing is off.',
    }),
    tailrace_config_age_seconds: gauge('seconds', {
      help: 'Time since the configuration in memory was last known to be current.',
    }),
  },
);
