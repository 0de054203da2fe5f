/**
 * Preloaded into every service that a test starts: ends it when the test's process has ended in any way. The unreferenced
 * channel does not keep the service alive.
 */
process.on('disconnect', () => process.exit(1));
process.channel?.unref();
