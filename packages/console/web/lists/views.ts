/** Saved views as a list: read from what a browser has stored, added and removed. */

export interface View {
  /** The steps of its address: `deliveries`, `sources/web`. */
  readonly page: string;
  readonly name: string;
  readonly query: Readonly<Record<string, string>>;
}

/** Of one page. */
export const maxViews = 20;
const maxNameLength = 60;

/** @throws SyntaxError */
export function readViews(json: string): readonly View[] {
  const found: unknown = JSON.parse(json);
  return Array.isArray(found) ? found.filter(isView) : [];
}

export function withView(views: readonly View[], view: View): readonly View[] {
  const named = { ...view, name: view.name.slice(0, maxNameLength) };
  const others = withoutView(views, named);
  const isFull = others.filter(({ page }) => page === view.page).length >= maxViews;
  return isFull ? others : [...others, named];
}

export function withoutView(views: readonly View[], { page, name }: View): readonly View[] {
  return views.filter((view) => view.page !== page || view.name !== name);
}

function isView(value: unknown): value is View {
  if (typeof value !== 'object' || value === null) return false;
  const { page, name, query } = value as Readonly<Record<string, unknown>>;
  const isQuery =
    typeof query === 'object' &&
    query !== null &&
    Object.values(query).every((one) => typeof one === 'string');
  return typeof page === 'string' && typeof name === 'string' && isQuery;
}
