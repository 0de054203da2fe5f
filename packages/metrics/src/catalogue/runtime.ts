/** Metrics of Node and of the process, which prom-client collects. Help and buckets are those of prom-client. */
import { counter, gauge, histogram, metricsOf, services } from '../metric.ts';

const oneProcess = { bound: 'one, that of the process' } as const;

export const runtimeMetrics = metricsOf(
  { services },
  {
    process_cpu_user_seconds_total: counter('seconds', {
      help: 'Total user CPU time spent in seconds.',
    }),
    process_cpu_system_seconds_total: counter('seconds', {
      help: 'Total system CPU time spent in seconds.',
    }),
    process_cpu_seconds_total: counter('seconds', {
      help: 'Total user and system CPU time spent in seconds.',
    }),
    process_start_time_seconds: gauge('seconds', {
      help: 'Start time of the process since unix epoch in seconds.',
    }),
    process_resident_memory_bytes: gauge('bytes', {
      help: 'Resident memory size in bytes.',
    }),
    process_virtual_memory_bytes: gauge('bytes', {
      help: 'Virtual memory size in bytes.',
    }),
    process_heap_bytes: gauge('bytes', {
      help: 'Process heap size in bytes.',
    }),
    process_open_fds: gauge('descriptors', {
      help: 'Number of open file descriptors.',
    }),
    process_max_fds: gauge('descriptors', {
      help: 'Maximum number of open file descriptors.',
    }),
    nodejs_eventloop_lag_seconds: gauge('seconds', {
      help: 'Lag of event loop in seconds.',
    }),
    nodejs_eventloop_lag_max_seconds: gauge('seconds', {
      help: 'The maximum recorded event loop delay.',
    }),
    nodejs_eventloop_lag_p50_seconds: gauge('seconds', {
      help: 'The 50th percentile of the recorded event loop delays.',
    }),
    nodejs_eventloop_lag_p90_seconds: gauge('seconds', {
      help: 'The 90th percentile of the recorded event loop delays.',
    }),
    nodejs_eventloop_lag_p99_seconds: gauge('seconds', {
      help: 'The 99th percentile of the recorded event loop delays.',
    }),
    nodejs_active_resources: gauge('resources', {
      labels: { type: { bound: 'the kinds of resources of Node, at most 40' } },
      help: 'Number of active resources that are currently keeping the event loop alive, grouped by async resource type.',
    }),
    nodejs_heap_size_total_bytes: gauge('bytes', {
      help: 'Process heap size from Node.js in bytes.',
    }),
    nodejs_heap_size_used_bytes: gauge('bytes', {
      help: 'Process heap size used from Node.js in bytes.',
    }),
    nodejs_external_memory_bytes: gauge('bytes', {
      help: 'Node.js external memory size in bytes.',
    }),
    nodejs_heap_space_size_total_bytes: gauge('bytes', {
      labels: { space: { bound: 'the heap spaces of V8, at most 15' } },
      help: 'Process heap space size total from Node.js in bytes.',
    }),
    nodejs_heap_space_size_used_bytes: gauge('bytes', {
      labels: { space: { bound: 'the heap spaces of V8, at most 15' } },
      help: 'Process heap space size used from Node.js in bytes.',
    }),
    nodejs_heap_space_size_available_bytes: gauge('bytes', {
      labels: { space: { bound: 'the heap spaces of V8, at most 15' } },
      help: 'Process heap space size available from Node.js in bytes.',
    }),
    nodejs_version_info: gauge('info', {
      labels: {
        version: oneProcess,
        major: oneProcess,
        minor: oneProcess,
        patch: oneProcess,
      },
      help: 'Node.js version info.',
    }),
    nodejs_gc_duration_seconds: histogram('seconds', {
      labels: { kind: { values: ['major', 'minor', 'incremental', 'weakcb'] } },
      buckets: [0.001, 0.01, 0.1, 1, 2, 5],
      help: 'Garbage collection duration by kind, one of major, minor, incremental or weakcb.',
    }),
  },
);
