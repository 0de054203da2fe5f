/** A copy of `entry` without some of its fields. */
export function omit<Entry extends object, Name extends keyof Entry>(
  entry: Entry,
  ...names: readonly Name[]
): Omit<Entry, Name> {
  const kept = Object.entries(entry).filter(([name]) => !names.includes(name as Name));
  return Object.fromEntries(kept) as Omit<Entry, Name>;
}
