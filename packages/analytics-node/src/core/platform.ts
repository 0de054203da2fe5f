/** The parts of the client that differ between Node and browsers. */
export interface Platform {
  /** The size of a text in UTF-8. */
  readonly byteLength: (text: string) => number;
  /** A random UUID, version 4. */
  readonly uuid: () => string;
  /** Shows a line to the developer. */
  readonly write: (line: string) => void;
  /** The patterns of `DEBUG`, if any. */
  readonly debug: string | undefined;
  /** The page of a browser, which may end without notice while it is hidden. */
  readonly page?: Page | undefined;
}

export interface Page {
  readonly isHidden: () => boolean;
  /** Calls `listener` each time the page is hidden or left, until the returned function is called. */
  readonly onHide: (listener: () => void) => () => void;
}
