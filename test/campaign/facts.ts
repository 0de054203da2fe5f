/** What is known at the end of a campaign, read from the topics, the receivers, the logs and the generator. Times are milliseconds since the epoch. */
import type { Series } from '../support/metrics/scrape.ts';
import type { NumberedCall } from '../support/oracle/calls.ts';
import type { Entry } from '../support/oracle/ledger.ts';
import type { Disruption, Trail } from '../support/oracle/repeats.ts';
import type { Fault } from './schedule.ts';

export interface Facts {
  readonly sends: readonly Send[];
  readonly destinations: readonly Destination[];
  /** Requests at the receivers, their answers, and dead letters. */
  readonly entries: readonly Entry[];
  readonly decisions: readonly Decided[];
  /** The records of `events` that calls have become. */
  readonly calls: readonly Accepted[];
  /** The records of `deliveries`. */
  readonly written: readonly Written[];
  readonly changes: readonly Change[];
  readonly deletions: readonly Deletion[];
  readonly episodes: readonly Episode[];
  /** Of the delivery service. */
  readonly trails: readonly Trail[];
  /** What moved or cut off partitions of `deliveries`, by the logs of the replicas and by the faults. */
  readonly disruptions: readonly Disruption[];
  /** The same for `events` and the routers. */
  readonly routerDisruptions: readonly Disruption[];
  /** What `GET /v1/events/{id}` says of some events. */
  readonly explanations: readonly Explanation[];
  /** Of each process that has run. */
  readonly readings: readonly Reading[];
  /** A sentence for each process that ended by itself, and each fatal line of a log. */
  readonly crashes: readonly string[];
}

/** A call. It is sent again until it is accepted. */
export interface Send {
  readonly number: number;
  readonly source: string;
  readonly call: NumberedCall;
  /** When it was sent first. */
  readonly askedAt: number;
  /** When it was answered with 200; undefined if it never was. */
  acceptedAt?: number;
}

export interface Destination {
  readonly id: string;
  /** The source that it is connected to. */
  readonly source: string;
  /** `ordering: user`. */
  readonly ordered: boolean;
  /** Its receiver and its configuration are left alone. */
  readonly steady: boolean;
  /** In the order in which they were set. */
  readonly secrets: readonly { readonly secret: string; readonly set: Asked }[];
}

/** Each event of the source is an obligation to these. */
export function destinationsOf(all: readonly Destination[], source: string): readonly Destination[] {
  return all.filter((one) => one.source === source);
}

/** When a change was requested, and when it was answered. */
export interface Asked {
  readonly askedAt: number;
  readonly answeredAt: number;
}

export interface Change {
  readonly destinationId: string;
  readonly what: 'paused' | 'disabled' | 'filtered' | 'limited';
  readonly begin: Asked;
  readonly end: Asked;
}

export interface Deletion extends Asked {
  readonly userId: string;
}

export interface Accepted {
  readonly eventId: string;
  readonly at: number;
}

/** The router's decision not to send an event to a destination. */
export interface Decided {
  readonly eventId: string;
  readonly destinationId: string;
  readonly reason: string;
  readonly at: number;
}

export interface Written {
  readonly eventId: string;
  readonly destinationId: string;
  readonly partition: number;
  readonly offset: number;
  /** Its partition in `events`. */
  readonly eventPartition: number;
  readonly at: number;
}

/** A fault as it happened. */
export interface Episode {
  readonly fault: Fault;
  readonly beganAt: number;
  readonly endedAt: number;
  /** When every service was ready again, and all copies in sync. */
  readonly settledAt: number;
}

/** What a process had counted a moment before it was ended. */
export interface Reading {
  readonly service: string;
  readonly series: readonly Series[];
  /** Between the reading and the end it counted what is not known. */
  readonly from: number;
  readonly until: number;
  /** Whether everything was over by then. */
  readonly isIdle: boolean;
}

export interface Explanation {
  readonly eventId: string;
  readonly outcome: string;
  /** By destination: the status of its delivery, or `filtered`. */
  readonly ends: Readonly<Record<string, string>>;
}

/** Every other user passes the filter of a campaign. */
export function passesFilter(userId: string): boolean {
  return /[02468]$/.test(userId);
}
