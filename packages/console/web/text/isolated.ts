/** A name within a sentence. Names that are written from right to left, or that have signs which say so, do not turn the rest around. */
export function isolated(name: string): string {
  return `\u2068${name}\u2069`;
}
