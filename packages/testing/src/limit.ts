/** The one limit of everything that a test awaits: many times what a busy machine needs. */
export const limitMs = 120_000;

/** Real timers, also while a test simulates time. */
export const realTimers = { setTimeout: globalThis.setTimeout, clearTimeout: globalThis.clearTimeout };
