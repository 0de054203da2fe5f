/** Light or dark: as the system, or as chosen in this browser. */
import { effect, signal } from '@preact/signals';

export type Theme = 'system' | 'light' | 'dark';

const storageKey = 'tailrace-theme';
const order: readonly Theme[] = ['system', 'light', 'dark'];

export const theme = signal<Theme>(stored());

/** A browser may refuse storage; the theme is then that of the system. */
function stored(): Theme {
  try {
    const found = localStorage.getItem(storageKey);
    return order.find((one) => one === found) ?? 'system';
  } catch {
    return 'system';
  }
}

export function followTheme(): void {
  effect(() => {
    document.documentElement.dataset['theme'] = theme.value;
    try {
      localStorage.setItem(storageKey, theme.value);
    } catch {
      // It is then forgotten with the page.
    }
  });
}

export function nextTheme(): void {
  theme.value = order[(order.indexOf(theme.value) + 1) % order.length] ?? 'system';
}
