/** The object in a record; undefined where it has another value, or no JSON. */
export function objectIn<Of extends object>(value: Buffer | null): Partial<Of> | undefined {
  try {
    const parsed: unknown = JSON.parse(value?.toString() ?? 'null');
    return typeof parsed === 'object' && parsed !== null ? parsed : undefined;
  } catch {
    return undefined;
  }
}
