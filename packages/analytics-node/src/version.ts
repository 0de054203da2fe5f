/** Sent as `context.library`. A test checks it against package.json. */
export const library = { name: 'analytics-node', version: '0.1.0' } as const;
