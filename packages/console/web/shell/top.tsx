import { session, signOut } from '../api/session.ts';
import { Button } from '../parts/button.tsx';
import { attempt } from '../parts/notes.tsx';
import { Badge } from '../parts/status.tsx';
import { text } from '../text/index.ts';
import { isMenuOpen } from './navigation.tsx';
import { isPaletteOpen } from './palette.tsx';
import { nextTheme, theme } from './theme.ts';

const marks = { system: '◐', light: '☀', dark: '☾' };

export function Top() {
  const { name, scope } = session.value ?? {};
  return (
    <header class="top">
      <button
        type="button"
        class="button menu-button"
        aria-expanded={isMenuOpen.value}
        aria-label="Menu"
        onClick={(event) => {
          event.stopPropagation();
          isMenuOpen.value = !isMenuOpen.value;
        }}
      >
        ☰
      </button>
      <button
        type="button"
        class="button search"
        onClick={() => {
          isPaletteOpen.value = true;
        }}
      >
        Go to … <kbd>Ctrl K</kbd>
      </button>
      <span class="who row">
        <span class="quiet">{name}</span>
        <Badge tone="accent">{scope}</Badge>
      </span>
      <Button kind="plain" label={text.shell.theme[theme.value]} onClick={nextTheme}>
        {marks[theme.value]}
      </Button>
      <Button kind="plain" onClick={() => attempt(signOut)}>
        Sign out
      </Button>
    </header>
  );
}
