/** Searches of the lists with a name. They are kept in this browser; the address of a search can be sent to others. */
import { signal } from '@preact/signals';
import { useState } from 'preact/hooks';
import { Button } from '../parts/button.tsx';
import { FormDialog, useForm } from '../parts/entry-form.tsx';
import { TextField } from '../parts/field.tsx';
import { toast } from '../parts/notes.tsx';
import { hrefOf, place } from '../url/location.ts';
import { maxViews, readViews, withoutView, withView, type View } from './views.ts';

const storageKey = 'tailrace-views';
const views = signal(stored());

/** A browser may refuse storage; there are no views then. */
function stored(): readonly View[] {
  try {
    return readViews(localStorage.getItem(storageKey) ?? '[]');
  } catch {
    return [];
  }
}

function keep(next: readonly View[]): void {
  views.value = next;
  try {
    localStorage.setItem(storageKey, JSON.stringify(next));
  } catch {
    toast('Your browser refused to store the view. It is forgotten with this page.');
  }
}

export function SavedViews() {
  const [isNaming, setNaming] = useState(false);
  const { steps, query } = place.value;
  const page = steps.join('/');
  const own = views.value.filter((view) => view.page === page);
  const isSearch = Object.keys(query).some((name) => name !== 'tab');
  if (own.length === 0 && !isSearch) return null;
  return (
    <div class="row" role="group" aria-label="Saved views">
      {own.map((view) => (
        <span key={view.name} class="view">
          <a href={hrefOf(steps, view.query)}>{view.name}</a>
          <Button
            small
            kind="plain"
            label={`Remove ${view.name}`}
            onClick={() => {
              keep(withoutView(views.value, view));
              toast('View removed.', {
                undo: () => keep(withView(views.value, view)),
              });
            }}
          >
            ✕
          </Button>
        </span>
      ))}
      {isSearch && (
        <Button small kind="plain" disabled={own.length >= maxViews} onClick={() => setNaming(true)}>
          Save this view
        </Button>
      )}
      {isNaming && (
        <NameView
          onName={(name) => {
            setNaming(false);
            keep(withView(views.value, { page, name, query }));
          }}
          onClose={() => setNaming(false)}
        />
      )}
    </div>
  );
}

interface NameProps {
  readonly onName: (name: string) => void;
  readonly onClose: () => void;
}

function NameView({ onName, onClose }: NameProps) {
  const { field, form } = useForm({ name: '' }, ({ name }) => {
    if (name.trim() !== '') onName(name.trim());
    return Promise.resolve();
  });
  return (
    <FormDialog {...form} title="Save this view" onClose={onClose} action="Save">
      <TextField
        label="Name of the view"
        hint="Kept in this browser. A view with this name is replaced."
        {...field('name')}
        required
        autofocus
      />
    </FormDialog>
  );
}
