/** The filter of the audit log. */
import { SearchForm } from '../../lists/search-form.tsx';
import { text } from '../../text/index.ts';

const words = text.access;

export function AuditSearch({ query }: { readonly query: Readonly<Record<string, string>> }) {
  return (
    <SearchForm
      label={words.search}
      query={query}
      choices={[
        { name: 'outcome', label: words.outcome, values: Object.entries(words.outcomes) },
        { name: 'since', label: words.since, values: Object.entries(words.sinces) },
      ]}
      fields={[
        { name: 'action', label: words.action, hint: words.actionHint },
        { name: 'target', label: words.target, hint: words.targetHint },
        { name: 'actor', label: words.actor },
      ]}
    />
  );
}
