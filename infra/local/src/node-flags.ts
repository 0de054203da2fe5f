/** What Node is told for every process of Tailrace: by `npm start`, tests and benches, and by the scripts of package.json. */
export const nodeFlags: readonly string[] = [
  // The Kafka client sets timers that are in the past already.
  '--disable-warning=TimeoutNegativeWarning',
  // By default V8 gives young objects up to 128 MB on a large machine. Here they die long before 32 MB are full.
  '--max-semi-space-size=16',
  // The nearer its limit, the sooner V8 collects: with a backlog, delivery takes 230 MiB and not 330, for the same CPU time.
  '--max-old-space-size=512',
];
