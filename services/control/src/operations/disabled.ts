/** The destinations that were disabled while this instance ran. One that is created disabled was not. */
import type { ConfigView } from '@tailrace/config';

export function watchDisabled(config: Pick<ConfigView, 'destination' | 'destinations' | 'onChange'>) {
  const enabled = new Set(config.destinations().flatMap((one) => (one.enabled ? [one.id] : [])));
  const disabledAt = new Map<string, number>();
  const close = config.onChange(({ kind, id }) => {
    if (kind !== 'destination') return;
    const destination = config.destination(id);
    if (destination?.enabled === true) {
      enabled.add(id);
      disabledAt.delete(id);
    } else if (enabled.delete(id) && destination) disabledAt.set(id, Date.now());
    else if (!destination) disabledAt.delete(id);
  });
  return {
    /** By id, those that were disabled after `from` (milliseconds since the epoch); others are forgotten. */
    since(from: number): readonly (readonly [id: string, at: number])[] {
      for (const [id, at] of disabledAt) if (at <= from) disabledAt.delete(id);
      return [...disabledAt];
    },
    forget: (id: string) => disabledAt.delete(id),
    close,
  };
}
