/** Numbers, times and durations as text. */
const local = new Intl.DateTimeFormat('sv-SE', { dateStyle: 'short', timeStyle: 'medium' });
const whole = new Intl.NumberFormat('en');
const short = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });

/** `2026-11-22 14:03:07`. */
export function formatLocal(date: Date): string {
  return local.format(date);
}

/** `2026-11-22 13:03:07 UTC`. */
export function formatUtc(date: Date): string {
  const [day = '', time = ''] = date.toISOString().split('T');
  return `${day} ${time.slice(0, 8)} UTC`;
}

export function formatCount(count: number): string {
  return whole.format(count);
}

/** `1 user`, `1,514 users`. */
export function formatCounted(count: number, one: string, several = `${one}s`): string {
  return `${formatCount(count)} ${count === 1 ? one : several}`;
}

/** `1.2M`, for numbers in little space. */
export function formatShort(count: number): string {
  return count < 10_000 ? whole.format(count) : short.format(count);
}

/** @param ms `12 ms`, `3.4 s`, `5 min`, `2 h`, `3 d` */
export function formatDuration(ms: number): string {
  const size = Math.abs(ms);
  if (size === 0) return '0 ms';
  if (size < 1) return `${ms.toFixed(1)} ms`;
  if (size < 1_000) return `${Math.round(ms)} ms`;
  if (size < 10_000) return `${(ms / 1_000).toFixed(1)} s`;
  if (size < 120_000) return `${Math.round(ms / 1_000)} s`;
  if (size < 7_200_000) return `${Math.round(ms / 60_000)} min`;
  if (size < 172_800_000) return `${Math.round(ms / 3_600_000)} h`;
  return `${Math.round(ms / 86_400_000)} d`;
}

/** `in 20 s`, `now`, `3 min ago`. Whole seconds, so that it does not flicker. */
export function formatRelative(ms: number): string {
  if (Math.abs(ms) < 1_000) return 'now';
  const rounded = Math.trunc(ms / 1_000) * 1_000;
  const size = Math.abs(rounded);
  const span = size < 10_000 ? `${size / 1_000} s` : formatDuration(size);
  return ms > 0 ? `in ${span}` : `${span} ago`;
}

/** `99.95 %`: never rounded up to 100. Undefined parts give a dash. */
export function formatShare(part: number, total: number): string {
  if (total === 0) return '–';
  const percent = (part / total) * 100;
  if (percent === 0 || percent === 100) return `${percent} %`;
  return `${(Math.floor(percent * 100) / 100).toFixed(percent > 99 ? 2 : 1)} %`;
}

/** Whether a rate of success is shown as bad. */
export function isBadRate(part: number, total: number): boolean {
  return total > 0 && part / total < 0.95;
}

/** What a delivery waits for. */
export function formatTier(tier: string | undefined): string {
  return tier === undefined ? 'first attempt' : `retry after ${withSpace(tier)}`;
}

/** `20m` of the settings as `20 min`. */
function withSpace(duration: string): string {
  return duration.replace(/m$/, 'min').replace(/(?<=\d)(?=[a-z])/, ' ');
}

export function formatBytes(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`;
  return bytes < 1_000_000 ? `${(bytes / 1_000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}
