/** A logger of the library that writes nothing. */
const ignore = (): void => undefined;
export const silent = {
  debug: ignore,
  info: ignore,
  warn: ignore,
  error: ignore,
  namespace: (): unknown => silent,
};
