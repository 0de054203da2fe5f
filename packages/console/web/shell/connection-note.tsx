import { connection } from '../api/client.ts';

const words = {
  lost: 'Connection lost. Reconnecting …',
  recovered: 'Reconnected. Everything is up to date.',
};

/** Says that the server does not answer, and that it does again. */
export function ConnectionNote() {
  const state = connection.value;
  return (
    <div role="status" aria-live="assertive">
      {state !== 'good' && <p class={`note-bar ${state}`}>{words[state]}</p>}
    </div>
  );
}
