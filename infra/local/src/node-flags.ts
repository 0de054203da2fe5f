/**
 * The flags of Node for every process of Tailrace: in `npm start`, tests and benches, and in the scripts of
 * package.json.
 */
export const nodeFlags: readonly string[] = [
  // The Kafka client sets timers in the past.
  '--disable-warning=TimeoutNegativeWarning',
  // By default V8 gives young objects up to 128 MB on a large machine. Here they die long before 32 MB are full.
  '--max-semi-space-size=16',
  // Near its limit V8 collects more often: with a backlog, delivery takes 230 MiB and not 330, for the same CPU
  // time.
  '--max-old-space-size=512',
];
