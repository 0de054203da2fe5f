/** The six messages. All are read at the time of the call, and never changed. */

/** Which destinations get the call, by their published names, case sensitive. All do where absent. */
export type Integrations = Readonly<Record<string, boolean | object>>;

export interface CommonFields {
  /** Names the call; a second one with the same name is dropped on the way. A random UUID where absent; at most 100 characters. */
  readonly messageId?: string | undefined;
  /** When it happened: a Date, or ISO 8601. Now where absent; set it to import what happened before. */
  readonly timestamp?: Date | string | undefined;
  /** What is known beside the user: `ip`, `userAgent`, `locale`, `device` and the like. */
  readonly context?: object | undefined;
  /** `{ All: false, Webhooks: true }` turns off all destinations but Webhooks. */
  readonly integrations?: Integrations | undefined;
}

/** Who it was: one of the two ids is required. */
export type User =
  | { readonly userId: string; readonly anonymousId?: string | undefined }
  | { readonly userId?: undefined; readonly anonymousId: string };

export type Track = CommonFields &
  User & {
    /** What happened, such as `Order Completed`. */
    readonly event: string;
    readonly properties?: object | undefined;
  };

export type Identify = CommonFields & User & { readonly traits?: object | undefined };

export type Page = CommonFields &
  User & {
    readonly name?: string | undefined;
    readonly category?: string | undefined;
    /** `url`, `title`, `referrer` and `path` are recognised; others are kept. */
    readonly properties?: object | undefined;
  };

export type Screen = Page;

export type Group = CommonFields &
  User & {
    readonly groupId: string;
    /** `name`, `industry`, `employees` and the like. */
    readonly traits?: object | undefined;
  };

export type Alias = CommonFields & {
  /** The new id. */
  readonly userId: string;
  /** The id it replaces. */
  readonly previousId: string;
};

export interface Messages {
  readonly track: Track;
  readonly identify: Identify;
  readonly page: Page;
  readonly screen: Screen;
  readonly group: Group;
  readonly alias: Alias;
}

export type CallType = keyof Messages;
