/** The platform of browsers, edge runtimes and workers: the console, and `localStorage.debug`. */
import type { Page, Platform } from '../core/platform.ts';

const encoder = new TextEncoder();

export const webPlatform: Platform = {
  byteLength: (text) => encoder.encode(text).length,
  uuid,
  write: (line) => console.warn(line),
  get debug() {
    try {
      return (globalThis as { localStorage?: { debug?: string } }).localStorage?.debug;
    } catch {
      // A page without access to its storage.
      return undefined;
    }
  },
  get page() {
    return pageOf(globalThis as { document?: Target & { visibilityState?: string } } & Target);
  },
};

/** The part of EventTarget that is used. */
interface Target {
  addEventListener?(type: string, listener: () => void): void;
  removeEventListener?(type: string, listener: () => void): void;
}

/** Undefined in workers and edge runtimes. */
function pageOf(window: { document?: Target & { visibilityState?: string } } & Target): Page | undefined {
  const { document } = window;
  if (!document?.addEventListener) return undefined;
  const isHidden = (): boolean => document.visibilityState === 'hidden';
  return {
    isHidden,
    onHide(listener) {
      const onChange = (): void => {
        if (isHidden()) listener();
      };
      document.addEventListener?.('visibilitychange', onChange);
      // Some browsers report a page that is left only so.
      window.addEventListener?.('pagehide', listener);
      return () => {
        document.removeEventListener?.('visibilitychange', onChange);
        window.removeEventListener?.('pagehide', listener);
      };
    },
  };
}

interface WebCrypto {
  readonly randomUUID?: () => string;
  readonly getRandomValues: (bytes: Uint8Array) => Uint8Array;
}

/** `crypto.randomUUID` exists only in pages of https. */
function uuid(): string {
  const { crypto } = globalThis as unknown as { crypto: WebCrypto };
  if (crypto.randomUUID) return crypto.randomUUID();
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
