/** The rules between the fields of a notification, which its schema cannot express, and those of its texts. */
import { isEncrypted } from '../../secrets/encryption.ts';
import { notificationSecretsOf } from '../../secrets/notification.ts';
import type { Notification } from './schema.ts';
import { field, problem, quote, type FieldPath, type Problem } from '../problem.ts';

const channels = ['destination', 'webhook', 'email'] as const;

/** @param notification any value; the schema reports fields of the wrong type */
export function notificationProblems(notification: unknown, path: FieldPath): Problem[] {
  const given = channels.filter((channel) => field(notification, channel) !== undefined);
  const problems = given.length === 1 ? [] : [problem(path, `needs one of ${channels.join(', ')}`)];
  const webhook = field(notification, 'webhook');
  const at = (...steps: FieldPath): FieldPath => [...path, ...steps];
  if (webhook !== undefined) {
    const isPagerDuty = field(webhook, 'format') === 'pagerduty';
    if (isPagerDuty && field(webhook, 'routingKey') === undefined) {
      problems.push(
        problem(at('webhook', 'routingKey'), 'is missing; it is the integration key of a PagerDuty service'),
      );
    }
    if (!isPagerDuty && field(webhook, 'routingKey') !== undefined) {
      problems.push(problem(at('webhook', 'routingKey'), 'is only used with format: pagerduty; remove it'));
    }
    if (!isPagerDuty && field(webhook, 'url') === undefined) {
      problems.push(problem(at('webhook', 'url'), 'is missing; it is a full URL with http or https'));
    }
  }
  const email = field(notification, 'email');
  if ((field(email, 'user') === undefined) !== (field(email, 'password') === undefined)) {
    problems.push(problem(at('email'), 'has only one of user and password; set both or none'));
  }
  for (const secret of notificationSecretsOf(notification)) {
    if (!isEncrypted(secret.value)) continue;
    const rule = 'has the form of an encrypted secret, which only Tailrace writes; use another value';
    problems.push(problem(at(...secret.path), rule));
  }
  return problems;
}

/** A problem for each source and destination that a notification names and that does not exist. */
export function missingSubjects(
  { sources = [], destinations = [], destination }: Notification,
  exists: { readonly source: (id: string) => boolean; readonly destination: (id: string) => boolean },
  path: FieldPath,
): Problem[] {
  const missing = (kind: 'source' | 'destination', id: string, ...at: FieldPath): Problem[] =>
    exists[kind](id) ? [] : [problem([...path, ...at], `there is no ${kind} ${quote(id)}`)];
  return [
    ...sources.flatMap((id, index) => missing('source', id, 'sources', index)),
    ...destinations.flatMap((id, index) => missing('destination', id, 'destinations', index)),
    ...(destination === undefined ? [] : missing('destination', destination, 'destination')),
  ];
}

export function smtpUrlProblem(text: string): string | undefined {
  const url = URL.parse(text);
  const isServer =
    /^smtps?:\/\/[^/\\\s]+$/i.test(text) && url !== null && url.hostname !== '' && text.length <= 300;
  if (!isServer) return 'is not the address of a mail server, such as smtps://smtp.example.com:465';
  return url.username === '' && url.password === ''
    ? undefined
    : 'contains a user name or password; use user and password instead';
}
