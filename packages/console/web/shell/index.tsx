/** What is around a page. It is loaded after the sign-in, with the styles of pages. */
import { useEffect } from 'preact/hooks';
import '../style/shell.css';
import '../style/lists.css';
import '../style/pages.css';
import '../style/setup.css';
import { signedOut } from '../api/client.ts';
import { followLive } from '../api/live.ts';
import { Questions } from '../parts/dialog.tsx';
import { Navigation } from './navigation.tsx';
import { PageView } from './page-view.tsx';
import { followPaletteKey, Palette } from './palette.tsx';
import { Top } from './top.tsx';

export function Shell() {
  useEffect(followLive, []);
  useEffect(followPaletteKey, []);
  return (
    <>
      <div class={signedOut.value ? 'shell away' : 'shell'}>
        <Navigation />
        <Top />
        <PageView />
        <Palette />
      </div>
      <Questions />
    </>
  );
}
