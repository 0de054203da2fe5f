/** Decisions as sentences, for `why` in the API and in the command line. */
import { formatInstant } from '@tailrace/events';
import type { Decision, DecisionGroup } from './decision.ts';

/** Ids in a sentence; more are counted. */
const namedIds = 5;

/** One sentence for each group: `At 12:03:04 the router filtered it for crm: the destination was disabled.` */
export function decisionSentences({ decidedAt, sourceId, routed, filtered }: Decision): string[] {
  const at = `At ${formatInstant(decidedAt)}`;
  if (filtered.length === 0 && routed === 0) {
    return [`${at} the router found no destination connected to the source ${sourceId}.`];
  }
  return filtered.map(
    (group) => `${at} the router filtered it for ${idsOf(group)}: ${causeOf(group, sourceId)}.`,
  );
}

function idsOf({ count, destinations }: DecisionGroup): string {
  const named = destinations.slice(0, namedIds);
  const others = count - named.length;
  if (named.length === 0) return `${others} destinations`;
  return others > 0 ? `${named.join(', ')} and ${others} more` : named.join(', ');
}

function causeOf({ reason, rule, count }: DecisionGroup, sourceId: string): string {
  const many = count > 1;
  switch (reason) {
    case 'disabled':
      return many ? 'the destinations were disabled' : 'the destination was disabled';
    case 'integrations':
      return `the integrations of the call turned ${many ? 'them' : 'it'} off`;
    case 'schema':
      return `the source ${sourceId} blocked the event`;
    case 'filter':
      if (rule) return `it did not meet the filter's rule ${rule.path}, ${rule.text}`;
      return `it did not meet ${many ? 'their filters' : 'its filter'}`;
    case 'sample':
      return `it was not in the sample${rule ? ` of ${rule.text}` : ''}`;
    case 'transform':
      return `${many ? 'their transforms' : 'its transform'}${rule ? ` of ${rule.text}` : ''} returned null`;
    case 'suppressed':
      return 'the user was suppressed';
    default:
      return reason;
  }
}
