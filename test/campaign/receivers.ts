/** The receivers of a campaign. */
import * as answers from '../support/receivers/answers.ts';

interface Nature {
  readonly answer?: () => answers.Answer;
  /** Whether `answer` applies only while calls are sent. */
  readonly recovers?: true;
  readonly ordered?: true;
  /** Its receiver and its configuration are left alone. */
  readonly steady?: true;
  /** The source of its events; default `web`. */
  readonly source?: 'bulk';
}

/** What each receiver is like, and its destination. Most events of a campaign are of the source `bulk`, which has one destination. */
export const receivers: Readonly<Record<string, Nature>> = {
  steady: { steady: true },
  bulk: { steady: true, source: 'bulk' },
  slow: { answer: () => answers.delayed(300, answers.status(200)) },
  ordered: {
    answer: () => (Math.random() < 0.1 ? answers.status(503) : answers.status(200)),
    recovers: true,
    ordered: true,
  },
  failing: { answer: failOften, recovers: true },
  refusing: { answer: () => answers.status(410) },
  changing: {},
};

function failOften(): answers.Answer {
  const dice = Math.random();
  if (dice < 0.25) return answers.status(503);
  return dice < 0.35 ? answers.reset : answers.status(200);
}
