/** Whether the window is wider than a phone, as `@media (width >= 760px)` of the styles. */
import { signal } from '@preact/signals';

const wide = window.matchMedia('(width >= 760px)');
export const isWide = signal(wide.matches);
wide.addEventListener('change', ({ matches }) => {
  isWide.value = matches;
});
