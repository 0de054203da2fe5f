/** The six messages. They are read when the call is made, and never modified. */

/** The destinations that get the call, by name, case sensitive. All destinations where absent. */
export type Integrations = Readonly<Record<string, boolean | object>>;

export interface CommonFields {
  /**
   * Identifies the call. Tailrace drops repeated calls with the same id. At most 100 characters. Default: a random
   * UUID.
   */
  readonly messageId?: string | undefined;
  /** When the event happened: a Date, or ISO 8601. Default: now. Set it to import past events. */
  readonly timestamp?: Date | string | undefined;
  /** Further information, such as `ip`, `userAgent`, `locale` and `device`. */
  readonly context?: object | undefined;
  /** `{ All: false, Webhooks: true }` disables all destinations except Webhooks, `{ Webhooks: { crm: false } }` one by its id. */
  readonly integrations?: Integrations | undefined;
}

/** The user. One of the two ids is required. */
export type User =
  | { readonly userId: string; readonly anonymousId?: string | undefined }
  | { readonly userId?: undefined; readonly anonymousId: string };

/** The properties of each event, by its name. */
export type EventMap<Events> = { readonly [Name in keyof Events]: object };

/** Any event, with any properties. */
export type AnyEvents = Record<string, object>;

/** A track call. With declared `Events`, only their names and their properties compile. */
export type Track<
  Events = AnyEvents,
  Name extends keyof Events & string = keyof Events & string,
> = CommonFields &
  User & {
    /** The name of the event, such as `Order Completed`. */
    readonly event: Name;
  } & PropertiesOf<Events[Name]>;

/** Properties may be left out where none of them is required. */
type PropertiesOf<Properties> =
  Partial<Properties> extends Properties
    ? { readonly properties?: Properties | undefined }
    : { readonly properties: Properties };

export type Identify = CommonFields & User & { readonly traits?: object | undefined };

export type Page = CommonFields &
  User & {
    readonly name?: string | undefined;
    readonly category?: string | undefined;
    /** `url`, `title`, `referrer` and `path` are recognised. Others are kept. */
    readonly properties?: object | undefined;
  };

export type Screen = Page;

export type Group = CommonFields &
  User & {
    readonly groupId: string;
    /** Such as `name`, `industry` and `employees`. */
    readonly traits?: object | undefined;
  };

export type Alias = CommonFields & {
  /** The new id. */
  readonly userId: string;
  /** The previous id. */
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

/** A call as middleware sees it: a copy of the message, with its type. Objects in it belong to the caller. */
export interface MiddlewareCall {
  readonly type: CallType;
  userId?: string | undefined;
  anonymousId?: string | undefined;
  previousId?: string | undefined;
  groupId?: string | undefined;
  event?: string | undefined;
  name?: string | undefined;
  category?: string | undefined;
  messageId?: string | undefined;
  timestamp?: Date | string | undefined;
  properties?: object | undefined;
  traits?: object | undefined;
  context?: object | undefined;
  integrations?: Integrations | undefined;
}

/**
 * Runs on each call before it is checked and encoded. Returns the call to send, changed or not, or null to drop it.
 * It must replace objects such as `properties`, not modify them. Where it throws, the call throws `invalid-message`.
 */
export type Middleware = (call: MiddlewareCall) => MiddlewareCall | null | undefined;
