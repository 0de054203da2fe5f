/** Every page of the console, with its heading: for pictures, for budgets and for the bench. A page that is added belongs into this list. */

/** An entry, and the title of its page. */
type Titled = readonly [id: string, title: string];

export interface Shown {
  readonly delivery: Titled;
  /** An event of which Why shows something. */
  readonly eventId: string;
  readonly source: Titled;
  readonly destination: Titled;
  /** One with failures. */
  readonly failing: Titled;
  /** One whose deliveries wait. */
  readonly waiting: Titled;
}

export interface Place {
  readonly name: string;
  readonly hash: string;
  readonly heading: string;
}

export function placesOf({
  delivery,
  eventId,
  source,
  destination,
  failing,
  waiting,
}: Shown): readonly Place[] {
  const page = (name: string, hash: string, heading: string): Place => ({ name, hash, heading });
  const sourcePage = `#/sources/${source[0]}`;
  const destinationPage = `#/destinations/${destination[0]}`;
  return [
    page('overview', '#/', 'Overview'),
    page('deliveries', '#/deliveries', 'Deliveries'),
    page('delivery', `#/deliveries/${delivery[0]}`, delivery[1]),
    page('filtered', '#/filtered', 'Filtered'),
    page('why', `#/why/${encodeURIComponent(eventId)}`, 'Why'),
    page('issues', '#/issues', 'Issues'),
    page('dead-letters', '#/replays', 'Dead letters'),
    page('send-past-events', `#/replays/+events?destination=${destination[0]}`, 'Send past events'),
    page('sources', '#/sources', 'Sources'),
    page('source-create', '#/sources/+new', 'Create a source'),
    page('source', sourcePage, source[1]),
    page('source-live', `${sourcePage}?tab=live`, source[1]),
    page('source-events', `${sourcePage}?tab=events`, source[1]),
    page('source-usage', `${sourcePage}?tab=usage`, source[1]),
    page('source-settings', `${sourcePage}?tab=settings`, source[1]),
    page('destinations', '#/destinations', 'Destinations'),
    page('destination-create', '#/destinations/+new', 'Create a destination'),
    page('destination', destinationPage, destination[1]),
    page('destination-pending', `#/destinations/${waiting[0]}`, waiting[1]),
    page('destination-failures', `#/destinations/${failing[0]}?tab=failures`, failing[1]),
    page('destination-filter', `#/destinations/${failing[0]}?tab=filter`, failing[1]),
    page('destination-transform', `${destinationPage}?tab=transform`, destination[1]),
    page('destination-settings', `${destinationPage}?tab=settings`, destination[1]),
    page('destination-test', `${destinationPage}?tab=test`, destination[1]),
    page('notifications', '#/notifications', 'Notifications'),
    page('notification-create', '#/notifications/+new', 'Create a notification'),
    page('audiences', `#/audiences/${source[0]}`, 'Audiences'),
    page('user', '#/users/grace', 'Users'),
    page('deletions', '#/deletions', 'Deletions'),
    page('suppressions', '#/suppressions', 'Suppressions'),
    page('tokens', '#/tokens', 'Tokens'),
    page('audit', '#/audit', 'Audit'),
  ];
}

/** Those of what `seed` writes. */
export const seededPlaces = placesOf({
  delivery: ['00000000-0000-4000-8000-000000000255', 'Signed Up'],
  eventId: 'event-filtered',
  source: ['web', 'Website'],
  destination: ['crm', 'Customer database'],
  failing: ['erp', 'Orders'],
  waiting: ['mailer', 'Mail service'],
});
