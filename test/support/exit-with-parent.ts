/**
 * Preloaded into every service that a test starts: ends it when the test's process is gone, however that
 * ended. The unreferenced channel does not keep a service alive that would end by itself.
 */
process.on('disconnect', () => process.exit(1));
process.channel?.unref();
