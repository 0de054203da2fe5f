/** The styles of pages, which the sign-in does without. */
import './lists.css';
import './pages.css';
import './setup.css';
