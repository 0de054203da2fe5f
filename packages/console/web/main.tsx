import { render } from 'preact';
import './style/tokens.css';
import './style/base.css';
import './style/parts.css';
import './style/shell.css';
import { App } from './app.tsx';
import { followSessions } from './api/session.ts';
import { keepFocus } from './shell/focus.ts';
import { followPaletteKey } from './shell/palette.tsx';
import { followTheme } from './shell/theme.ts';
import { followLocation } from './url/location.ts';

followTheme();
followLocation();
followPaletteKey();
followSessions();
keepFocus();
const root = document.getElementById('app');
if (root) render(<App />, root);
// After what is shown first.
void import('./api/live.ts').then(({ followLive }) => followLive());
