/** The parameter `search` of the lists of sources and destinations, of which there may be thousands. */
import Type from 'typebox';

/** To be spread into the query of a list. */
export const searchParameter = {
  search: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 100,
      description: 'a part of the id or of the name, in any case',
    }),
  ),
};

export function matchesSearch(
  search: string | undefined,
): (entry: { readonly id: string; readonly name?: string | undefined }) => boolean {
  if (search === undefined) return () => true;
  const wanted = search.toLowerCase();
  return ({ id, name = '' }) => id.toLowerCase().includes(wanted) || name.toLowerCase().includes(wanted);
}
