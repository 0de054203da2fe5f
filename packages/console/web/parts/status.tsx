/** The state of a delivery, a destination or a replay, in a colour and in a word. */
import type { ComponentChildren } from 'preact';
import { text } from '../text/index.ts';
import { lookUp } from '../text/look-up.ts';

export type Tone = 'good' | 'warning' | 'bad' | 'accent' | 'neutral';

export function Badge({
  tone = 'neutral',
  children,
}: {
  readonly tone?: Tone;
  readonly children: ComponentChildren;
}) {
  return <span class={`badge ${tone}`}>{children}</span>;
}

const tones: Readonly<Record<string, Tone>> = {
  delivered: 'good',
  done: 'good',
  retrying: 'warning',
  retry: 'warning',
  waiting: 'accent',
  dead: 'bad',
  running: 'accent',
  counting: 'accent',
  requested: 'accent',
  pending: 'accent',
  failed: 'bad',
  interrupted: 'warning',
  superseded: 'neutral',
  filtered: 'neutral',
  routed: 'good',
  rejected: 'bad',
  accepted: 'accent',
  blocked: 'warning',
  'no-destination': 'warning',
  enabled: 'accent',
  healthy: 'good',
  failing: 'bad',
  acknowledged: 'accent',
  dismissed: 'neutral',
  disabled: 'neutral',
  paused: 'warning',
  refused: 'bad',
  sending: 'accent',
  sent: 'good',
  open: 'bad',
  closed: 'good',
  'half-open': 'warning',
};

export function toneOf(status: string): Tone {
  return lookUp(tones, status) ?? 'neutral';
}

/** A word that the API uses for a state. An unknown one is shown as it is. */
export function Status({ of }: { readonly of: string }) {
  return <Badge tone={toneOf(of)}>{lookUp(text.status, of) ?? of}</Badge>;
}

/** Why a delivery waits or failed, in a sentence; the code of the API stays readable beside it. */
export function Reason({ of }: { readonly of: string | undefined }) {
  if (of === undefined) return null;
  const said = lookUp(text.reasons, of);
  return said === undefined ? <code>{of}</code> : <span title={of}>{said}</span>;
}
