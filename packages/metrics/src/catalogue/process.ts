/** Metrics of the process, which every service has. */
import { services, type MetricSpec } from '../metric.ts';

export const processMetrics = {
  tailrace_build_info: {
    type: 'gauge',
    unit: 'info',
    labels: {
      version: { bound: 'one, that of the process' },
      revision: { bound: 'one, that of the process' },
    },
    services,
    help: 'Always 1. The labels are the version and the revision of the code.',
  },
  tailrace_ready: {
    type: 'gauge',
    unit: 'boolean',
    services,
    help: '1 while /readyz answers 200, else 0.',
  },
  tailrace_check_ok: {
    type: 'gauge',
    unit: 'boolean',
    labels: { check: { bound: 'the checks of the service, at most 6' } },
    services,
    help: '1 while the check succeeds, else 0. A check that fails later does not make the service unready.',
  },
  tailrace_clock_seconds: {
    type: 'gauge',
    unit: 'seconds',
    services,
    help: 'The time of the clock of this machine, in seconds since 1970. Its difference to the time of the scrape is how wrong the clock is.',
  },
  tailrace_event_loop_busy_seconds_total: {
    type: 'counter',
    unit: 'seconds',
    services,
    help: 'Time in which the event loop was busy. Its rate is the busy share, from 0 to 1.',
  },
  tailrace_spans_dropped_total: {
    type: 'counter',
    unit: 'spans',
    services,
    help: 'Spans that were not exported, because the queue was full or the collector did not take them. 0 where tracing is off.',
  },
  tailrace_config_age_seconds: {
    type: 'gauge',
    unit: 'seconds',
    services,
    help: 'Time since the configuration in memory was last known to be current.',
  },
} as const satisfies Record<string, MetricSpec>;
