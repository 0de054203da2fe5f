/** As `context.library` says it; a test keeps it the version of package.json. */
export const library = { name: 'analytics-node', version: '0.1.0' } as const;
