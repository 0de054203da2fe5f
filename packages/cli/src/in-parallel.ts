/** The results of `work` for all items, in their order, with so many at the same time. */
export async function inParallel<T, R>(
  atTheSameTime: number,
  items: readonly T[],
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  const queue = [...items.entries()];
  const worker = async (): Promise<void> => {
    for (let next = queue.shift(); next; next = queue.shift()) results[next[0]] = await work(next[1]);
  };
  await Promise.all(Array.from({ length: atTheSameTime }, worker));
  return results;
}
