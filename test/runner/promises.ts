/**
 * Preloaded before `node:test`, which otherwise follows each promise until it is collected, to know the test of an unhandled
 * rejection: half of the processor time of tests on simulated time. Without that, such a rejection fails the file.
 */
import hooks from 'node:async_hooks';

const { createHook } = hooks;
hooks.createHook = (options) => createHook({ ...options, trackPromises: false });
