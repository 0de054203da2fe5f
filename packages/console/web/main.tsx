import { render } from 'preact';
import './style/tokens.css';
import './style/base.css';
import './style/parts.css';
import './style/sign-in.css';
import { App } from './app.tsx';
import { followSessions } from './api/session.ts';
import { keepFocus } from './shell/focus.ts';
import { followTheme } from './shell/theme.ts';
import { followLocation } from './url/location.ts';

followTheme();
followLocation();
followSessions();
keepFocus();
const root = document.getElementById('app');
if (root) render(<App />, root);
