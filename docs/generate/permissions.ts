/** The permissions in the chart, generated from the table in packages/topology. */
import { permissions } from '@tailrace/topology';
import { stringify } from 'yaml';

/** Names are without the prefix, which the chart adds where \`prefixed\` is true. */
export function permissionsFile(): string {
  const users = permissions.map(({ user, resources }) => ({ user, resources }));
  return `# Generated from packages/topology/src/permissions.ts: run npm run docs.\n${stringify(users, { aliasDuplicateObjects: false })}`;
}
