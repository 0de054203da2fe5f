/**
 * Scenarios with healthy destinations beside others: one failing one, many of them, rate-limited ones, ones of the same origin, and
 * five per cent of ten thousand.
 */
import type { Behaviour, Receiver } from '../receivers/receiver.ts';
import { measureBeside, type Company, type Setting } from './beside.ts';
import { refusingUrl } from './isolation.ts';
import type { BadKind } from './options.ts';
import type { Report } from './report.ts';
import type { Context } from './stage.ts';

const healthyCount = 10;
const usual = { healthyPerSecond: 20, mostRatio: 2 };
const answers: Behaviour = { kind: 'answers' };

/** Behaviour of an endpoint of each kind, or a URL where no endpoint can show the failure. */
const bad: Readonly<Record<BadKind, Behaviour | ((place: number) => string)>> = {
  fails: { kind: 'fails' },
  'fails-late': { kind: 'fails', afterMs: 2_000 },
  silent: { kind: 'is silent' },
  refuses: refusingUrl,
  resets: { kind: 'resets' },
  slow: { kind: 'is slow', eachMs: 4_000 },
  trickles: { kind: 'trickles' },
  throttles: { kind: 'throttles', perSecond: 0 },
  'dead-name': (place) => `http://unknown-${place}.invalid/hook`,
  'self-signed': { kind: 'is self-signed' },
};

/** URLs of failing endpoints, each kind in turn, each with its own origin. */
async function listenBadly(receiver: Receiver, count: number, kinds: readonly BadKind[]): Promise<string[]> {
  const all = Array.from({ length: count }, (_, place) => bad[kinds[place % kinds.length] ?? 'fails']);
  const urls = (await receiver.listen(all.filter((kind) => typeof kind !== 'function'))).values();
  return all.map((kind, place) => (typeof kind === 'function' ? kind(place) : (urls.next().value ?? '')));
}

/** Healthy URLs; if there are more than 1,000, a hundred share an origin. */
async function listenWell(receiver: Receiver, count: number): Promise<string[]> {
  const perOrigin = count > 1_000 ? 100 : 1;
  const origins = await receiver.listen(Array.from({ length: Math.ceil(count / perOrigin) }, () => answers));
  return Array.from({ length: count }, (_, place) => {
    const url = origins[Math.floor(place / perOrigin)] ?? '';
    return perOrigin === 1 ? url : `${url}/${place}`;
  });
}

async function listenAlone(receiver: Receiver): Promise<Company> {
  return { healthy: await listenWell(receiver, healthyCount), others: [] };
}

const alone: Setting = { name: 'alone', title: 'alone', listen: listenAlone, perSecond: 0 };

/** Healthy destinations in place of the others, which shows the effect of the load alone. */
function besideHealthy(count: number, others: Pick<Setting, 'perSecond' | 'burst'>): Setting {
  return {
    name: 'healthy',
    title: `beside ${count} healthy ones`,
    ...others,
    listen: async (receiver) => ({
      healthy: await listenWell(receiver, healthyCount),
      others: await listenWell(receiver, count),
    }),
  };
}

export function measureManyBad(context: Context): Promise<Report> {
  const { bad: count, badKinds, badRate: perSecond } = context.options;
  return measureBeside(context, {
    ...usual,
    name: 'many-bad',
    title: `Many bad: ${count} destinations (${badKinds.join(', ')}), ${perSecond} deliveries a second to them`,
    settings: [
      alone,
      besideHealthy(count, { perSecond }),
      {
        name: 'bad',
        title: `beside ${count} bad ones`,
        perSecond,
        judged: true,
        listen: async (receiver) => ({
          healthy: await listenWell(receiver, healthyCount),
          others: await listenBadly(receiver, count, badKinds),
        }),
      },
    ],
  });
}

/** As where each event goes to a healthy destination and to a bad one. */
export function measureOneBad(context: Context): Promise<Report> {
  const perSecond = 200;
  return measureBeside(context, {
    name: 'one-bad',
    title: `One bad: ten healthy destinations and one that fails, ${perSecond} deliveries a second to it`,
    healthyPerSecond: perSecond,
    mostRatio: 1.5,
    settings: [
      alone,
      ...context.options.badKinds.map((kind) => ({
        name: kind,
        title: `beside one: ${kind}`,
        perSecond,
        judged: true,
        listen: async (receiver: Receiver) => ({
          healthy: await listenWell(receiver, healthyCount),
          others: await listenBadly(receiver, 1, [kind]),
        }),
      })),
    ],
  });
}

/** A burst of nine to each, then as many as the rate limit allows, so that the backlog never shrinks. */
export function measureRateLimited(context: Context): Promise<Report> {
  const { limited } = context.options;
  const inflow = { burst: 9, perSecond: limited };
  const unlimited = besideHealthy(limited, inflow);
  return measureBeside(context, {
    ...usual,
    name: 'rate-limited',
    title: `Rate limited: ${limited} destinations with a limit of 1/s, a burst of nine deliveries to each, then 1/s`,
    settings: [
      alone,
      unlimited,
      { ...unlimited, name: 'limited', title: `beside ${limited} limited ones`, rateLimit: 1, judged: true },
    ],
  });
}

export function measureSameOrigin(context: Context): Promise<Report> {
  const beside = (name: string, title: string, neighbour: Behaviour, perSecond: number): Setting => ({
    name,
    title,
    perSecond,
    judged: true,
    listen: async (receiver) => {
      const [url] = await receiver.listen([
        { kind: 'by path', paths: { '/hook': answers, '/neighbour': neighbour } },
      ]);
      return { healthy: [url], others: perSecond > 0 ? [new URL('/neighbour', url).href] : [] };
    },
  });
  return measureBeside(context, {
    ...usual,
    name: 'same-origin',
    title: 'Same origin: two destinations, one of which is healthy',
    settings: [
      { ...beside('alone', 'alone', answers, 0), judged: false },
      beside('failing', 'beside one that answers 500, 50/s', { kind: 'fails' }, 50),
      beside('slow', 'beside one that takes 4 s, 30/s', { kind: 'is slow', eachMs: 4_000 }, 30),
    ],
  });
}

export function measureTenThousand(context: Context): Promise<Report> {
  const { destinations, badKinds, badRate: perSecond } = context.options;
  const few = Math.round(destinations * 0.05);
  const listen = (isWell: boolean) => async (receiver: Receiver) => ({
    healthy: await listenWell(receiver, destinations - few),
    others: await (isWell ? listenWell(receiver, few) : listenBadly(receiver, few, badKinds)),
  });
  return measureBeside(context, {
    ...usual,
    name: 'ten-thousand',
    title: `Ten thousand: ${destinations} destinations, ${perSecond} deliveries a second to 5 % of them`,
    scrapes: true,
    settings: [
      { name: 'healthy', title: 'all are healthy', listen: listen(true), perSecond },
      { name: 'bad', title: 'those 5 % are bad', listen: listen(false), perSecond, judged: true },
    ],
  });
}
