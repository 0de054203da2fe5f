/** Every command, in the order of help, which is the order of first use. */
import { apply } from './apply.ts';
import { audienceDelete, audienceList, audienceSync, getAudiences } from './audience.ts';
import type { Command } from './command.ts';
import { completionOf } from './completion.ts';
import { createDestination, createSource } from './create.ts';
import { deadList } from './dead-list.ts';
import { deadReplay } from './dead-replay.ts';
import { deadShow } from './dead-show.ts';
import { doctor } from './doctor.ts';
import { getHistory } from './get-history.ts';
import { getEntries } from './get.ts';
import type { Section } from './help.ts';
import { drain, getRecall, retry } from './recall.ts';
import { switches } from './switches.ts';
import { tail } from './tail.ts';
import { testEvent } from './test-event.ts';
import { topicsApply, topicsList } from './topics.ts';
import { getDeletion, getDeletions, userDelete } from './user-delete.ts';
import { why } from './why.ts';

/** The short name of what is asked for in a hurry. */
const replay: Command = { ...deadReplay, name: 'replay', summary: 'the same as dead replay' };

export const sections: readonly Section[] = [
  { title: 'The system', commands: [topicsApply, topicsList, doctor, completionOf(() => commands)] },
  {
    title: 'Sources and destinations',
    commands: [apply, ...getEntries, createSource, createDestination, ...switches, testEvent],
  },
  { title: 'What happened', commands: [tail, why, ...getHistory] },
  { title: 'What waits for its next attempt', commands: [retry, drain, getRecall] },
  { title: 'What could not be delivered', commands: [deadList, deadShow, deadReplay, replay] },
  {
    title: 'Users',
    commands: [
      userDelete,
      getDeletions,
      getDeletion,
      audienceSync,
      audienceList,
      getAudiences,
      audienceDelete,
    ],
  },
];

export const commands: readonly Command[] = sections.flatMap((section) => section.commands);
