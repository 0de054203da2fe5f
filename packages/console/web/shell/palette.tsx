/** The command palette on Ctrl-K: pages, commands, sources and destinations, and what an id leads to. */
import { signal } from '@preact/signals';
import { useEffect, useLayoutEffect, useState } from 'preact/hooks';
import { get } from '../api/client.ts';
import { Dialog } from '../parts/dialog.tsx';
import { text } from '../text/index.ts';
import { go } from '../url/location.ts';
import { nextTheme } from './theme.ts';
import { session, signOut } from '../api/session.ts';
import { visiblePages } from './navigation.tsx';
import { isolated } from '../text/isolated.ts';

const words = {
  searchHint: 'Page, source, destination or any id',
};

export const isPaletteOpen = signal(false);

interface Command {
  readonly name: string;
  readonly hint?: string;
  readonly run: () => unknown;
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const maxShown = 12;
const maxEntries = 4;
const pauseMs = 150;

function commandsFor(typed: string): Command[] {
  const wanted = typed.trim().toLowerCase();
  const fixed: Command[] = [
    ...visiblePages().map(({ name, title, group }) => ({
      name: title,
      hint: text.shell.groups[group],
      run: () => go(name === '' ? [] : [name]),
    })),
    { name: text.shell.theme.system.split(':')[0] ?? '', run: nextTheme },
    { name: 'Sign out', run: signOut },
  ];
  const found = fixed.filter(({ name }) => name.toLowerCase().includes(wanted));
  const id = typed.trim();
  if (id.length < 3) return found;
  const event: Command = {
    name: `Why: event ${isolated(id)}`,
    run: () => go(['why', id]),
  };
  const delivery: Command = {
    name: `Delivery ${isolated(id)}`,
    run: () => go(['deliveries', id]),
  };
  const user: Command = {
    name: `User ${isolated(id)}`,
    run: () => go(['users', id]),
  };
  return [...found, ...(uuid.test(id) ? [delivery, event] : [event]), user];
}

function commandOf(
  { id, name }: { readonly id: string; readonly name?: string },
  page: string,
  hint: string,
): Command {
  return {
    name: isolated(name ?? id),
    hint,
    run: () => go([page, id]),
  };
}

/** The sources and destinations with the text in their id or name, when typing pauses. */
function useEntries(typed: string): readonly Command[] {
  const [found, setFound] = useState<{ readonly search: string; readonly commands: readonly Command[] }>();
  const search = typed.trim();
  useEffect(() => {
    if (search.length < 2) return undefined;
    const own = new AbortController();
    const { signal } = own;
    const query = { search, limit: maxEntries };
    const load = async (): Promise<void> => {
      const [sources, destinations] = await Promise.all([
        get('/v1/sources', { query }, signal),
        get('/v1/destinations', { query }, signal),
      ]);
      if (signal.aborted) return;
      const commands = [
        ...sources.items.map((entry) => commandOf(entry, 'sources', 'Source')),
        ...destinations.items.map((entry) => commandOf(entry, 'destinations', 'Destination')),
      ];
      setFound({ search, commands });
    };
    // Without them the other commands stay.
    const timer = setTimeout(() => void load().catch(() => undefined), pauseMs);
    return () => {
      clearTimeout(timer);
      own.abort();
    };
  }, [search]);
  return found?.search === search ? found.commands : [];
}

export function followPaletteKey(): () => void {
  const follow = (event: KeyboardEvent): void => {
    if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    // Not over the sign-in, nor over a question.
    const isPossible = session.peek() && document.querySelector('dialog[open]') === null;
    isPaletteOpen.value = Boolean(isPossible);
  };
  window.addEventListener('keydown', follow);
  return () => window.removeEventListener('keydown', follow);
}

export function Palette() {
  return isPaletteOpen.value ? <OpenPalette /> : null;
}

function OpenPalette() {
  const [typed, setTyped] = useState('');
  const [marked, setMarked] = useState(0);
  const entries = useEntries(typed);
  // Last, so that what is marked stays where it is.
  const commands = [...commandsFor(typed), ...entries].slice(0, maxShown);
  const close = (): void => {
    isPaletteOpen.value = false;
  };
  const run = (command: Command | undefined): void => {
    if (!command) return;
    close();
    void command.run();
  };
  useLayoutEffect(() => setMarked(0), [typed]);
  return (
    <Dialog title="Go to …" className="palette titled-by-field" onClose={close}>
      <input
        type="text"
        role="combobox"
        aria-expanded="true"
        aria-controls="commands"
        aria-activedescendant={`command-${marked}`}
        aria-label={words.searchHint}
        placeholder={words.searchHint}
        autofocus
        autocomplete="off"
        spellcheck={false}
        value={typed}
        onInput={(event) => setTyped(event.currentTarget.value)}
        onKeyDown={(event) => {
          const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
          if (step !== undefined) {
            event.preventDefault();
            setMarked((marked + step + commands.length) % Math.max(1, commands.length));
          } else if (event.key === 'Enter') {
            // The field that has the focus again must not get the key too.
            event.preventDefault();
            run(commands[marked]);
          }
        }}
      />
      <ul id="commands" role="listbox" aria-label="Go to …">
        {commands.map((command, index) => (
          <li
            key={`${command.hint ?? ''} ${command.name}`}
            id={`command-${index}`}
            role="option"
            aria-selected={index === marked}
            onMouseMove={() => setMarked(index)}
            onClick={() => run(command)}
          >
            <span class="breakable">{command.name}</span>
            {command.hint !== undefined && <span class="quiet small">{command.hint}</span>}
          </li>
        ))}
      </ul>
      {commands.length === 0 && <p class="empty">Nothing found.</p>}
    </Dialog>
  );
}
