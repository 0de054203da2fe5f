/** Metrics of Node and of the process, which prom-client collects. Help and buckets are those of prom-client. */
import { services, type MetricSpec } from '../metric.ts';

const oneProcess = { bound: 'one, that of the process' } as const;

export const runtimeMetrics = {
  process_cpu_user_seconds_total: {
    type: 'counter',
    unit: 'seconds',
    services,
    help: 'Total user CPU time spent in seconds.',
  },
  process_cpu_system_seconds_total: {
    type: 'counter',
    unit: 'seconds',
    services,
    help: 'Total system CPU time spent in seconds.',
  },
  process_cpu_seconds_total: {
    type: 'counter',
    unit: 'seconds',
    services,
    help: 'Total user and system CPU time spent in seconds.',
  },
  process_start_time_seconds: {
    type: 'gauge',
    unit: 'seconds',
    services,
    help: 'Start time of the process since unix epoch in seconds.',
  },
  process_resident_memory_bytes: {
    type: 'gauge',
    unit: 'bytes',
    services,
    help: 'Resident memory size in bytes.',
  },
  process_virtual_memory_bytes: {
    type: 'gauge',
    unit: 'bytes',
    services,
    help: 'Virtual memory size in bytes.',
  },
  process_heap_bytes: {
    type: 'gauge',
    unit: 'bytes',
    services,
    help: 'Process heap size in bytes.',
  },
  process_open_fds: {
    type: 'gauge',
    unit: 'descriptors',
    services,
    help: 'Number of open file descriptors.',
  },
  process_max_fds: {
    type: 'gauge',
    unit: 'descriptors',
    services,
    help: 'Maximum number of open file descriptors.',
  },
  nodejs_eventloop_lag_seconds: {
    type: 'gauge',
    unit: 'seconds',
    services,
    help: 'Lag of event loop in seconds.',
  },
  nodejs_eventloop_lag_max_seconds: {
    type: 'gauge',
    unit: 'seconds',
    services,
    help: 'The maximum recorded event loop delay.',
  },
  nodejs_eventloop_lag_p50_seconds: {
    type: 'gauge',
    unit: 'seconds',
    services,
    help: 'The 50th percentile of the recorded event loop delays.',
  },
  nodejs_eventloop_lag_p90_seconds: {
    type: 'gauge',
    unit: 'seconds',
    services,
    help: 'The 90th percentile of the recorded event loop delays.',
  },
  nodejs_eventloop_lag_p99_seconds: {
    type: 'gauge',
    unit: 'seconds',
    services,
    help: 'The 99th percentile of the recorded event loop delays.',
  },
  nodejs_active_resources: {
    type: 'gauge',
    unit: 'resources',
    labels: { type: { bound: 'the kinds of resources of Node, at most 40' } },
    services,
    help: 'Number of active resources that are currently keeping the event loop alive, grouped by async resource type.',
  },
  nodejs_heap_size_total_bytes: {
    type: 'gauge',
    unit: 'bytes',
    services,
    help: 'Process heap size from Node.js in bytes.',
  },
  nodejs_heap_size_used_bytes: {
    type: 'gauge',
    unit: 'bytes',
    services,
    help: 'Process heap size used from Node.js in bytes.',
  },
  nodejs_external_memory_bytes: {
    type: 'gauge',
    unit: 'bytes',
    services,
    help: 'Node.js external memory size in bytes.',
  },
  nodejs_heap_space_size_total_bytes: {
    type: 'gauge',
    unit: 'bytes',
    labels: { space: { bound: 'the heap spaces of V8, at most 15' } },
    services,
    help: 'Process heap space size total from Node.js in bytes.',
  },
  nodejs_heap_space_size_used_bytes: {
    type: 'gauge',
    unit: 'bytes',
    labels: { space: { bound: 'the heap spaces of V8, at most 15' } },
    services,
    help: 'Process heap space size used from Node.js in bytes.',
  },
  nodejs_heap_space_size_available_bytes: {
    type: 'gauge',
    unit: 'bytes',
    labels: { space: { bound: 'the heap spaces of V8, at most 15' } },
    services,
    help: 'Process heap space size available from Node.js in bytes.',
  },
  nodejs_version_info: {
    type: 'gauge',
    unit: 'info',
    labels: {
      version: oneProcess,
      major: oneProcess,
      minor: oneProcess,
      patch: oneProcess,
    },
    services,
    help: 'Node.js version info.',
  },
  nodejs_gc_duration_seconds: {
    type: 'histogram',
    unit: 'seconds',
    labels: { kind: { values: ['major', 'minor', 'incremental', 'weakcb'] } },
    buckets: [0.001, 0.01, 0.1, 1, 2, 5],
    services,
    help: 'Garbage collection duration by kind, one of major, minor, incremental or weakcb.',
  },
} as const satisfies Record<string, MetricSpec>;
