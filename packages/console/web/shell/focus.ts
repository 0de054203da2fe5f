/** Keeps the focus of the keyboard in the page: where the focused element is removed, the nearest part around it gets the focus. */

/** The focused element and those around it, from the inside. */
let focused: readonly Element[] = [];

export function keepFocus(): void {
  document.addEventListener('focusin', ({ target }) => {
    focused = target instanceof Element ? withParents(target) : [];
  });
  // Browsers send no event for the removal of the focused element.
  new MutationObserver(() => {
    if (document.activeElement !== document.body || focused[0]?.isConnected !== false) return;
    const around = focused.find((element) => element.isConnected && element.matches('[tabindex]'));
    const next =
      document.querySelector('dialog[open] :is(input, button)') ?? around ?? document.querySelector('main');
    if (next instanceof HTMLElement) next.focus({ preventScroll: true });
  }).observe(document, { childList: true, subtree: true });
}

function withParents(element: Element): Element[] {
  const all = [];
  for (let one: Element | null = element; one; one = one.parentElement) all.push(one);
  return all;
}
