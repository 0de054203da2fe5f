/** The place of a record in its topic, in headers: `<partition>/<offset>`. */

export interface RecordPosition {
  readonly partition: number;
  readonly offset: number;
}

export function formatPosition({ partition, offset }: RecordPosition): string {
  return `${partition}/${offset}`;
}

export function parsePosition(text = ''): RecordPosition | undefined {
  const match = /^(\d{1,9})\/(\d{1,15})$/.exec(text);
  return match ? { partition: Number(match[1]), offset: Number(match[2]) } : undefined;
}
