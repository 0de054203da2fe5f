/** Sends the present members of an audience to one destination, for example because it was connected later. */
import { useState } from 'preact/hooks';
import { api, ask, type Schema } from '../../api/client.ts';
import { useGet } from '../../api/resource.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { ChoiceField } from '../../parts/field.tsx';
import { formatCount } from '../../parts/format.ts';
import { attempt, ErrorNote } from '../../parts/notes.tsx';
import { isolated } from '../../text/isolated.ts';

const words = {
  calls: (members: string) =>
    members === '1'
      ? 'One identify call is sent to it, for the one member. Other destinations receive nothing.'
      : `An identify call is sent to it for each of the ${members} members. Other destinations receive nothing.`,
  none: 'No enabled destination is connected to the source.',
};

interface Props {
  readonly source: string;
  readonly audience: Schema['Audience'];
  /** Chosen at first. */
  readonly destination: string | undefined;
  readonly onClose: () => void;
}

export function SendMembers({ source, audience: { name, members }, destination, onClose }: Props) {
  const { data, error, reload } = useGet('/v1/destinations', { query: { source, limit: 200 } });
  const [typed, setChosen] = useState(destination);
  const ids = data?.items.filter(({ enabled }) => enabled).map(({ id }) => id) ?? [];
  const chosen = typed !== undefined && ids.includes(typed) ? typed : ids[0];
  const send = async (): Promise<void> => {
    const params = { path: { id: source, name }, query: { destination: chosen ?? '' } };
    const body = undefined as unknown as string;
    const sending = () => ask(api.PUT('/v1/sources/{id}/audiences/{name}', { params, body }));
    if (await attempt(sending, 'Sending members.')) onClose();
  };
  return (
    <Dialog title={`Send the members of ${isolated(name)}`} onClose={onClose}>
      <div class="stack">
        <ErrorNote error={error} onRetry={reload} />
        {data && ids.length === 0 && <p>{words.none}</p>}
        {chosen !== undefined && (
          <>
            <ChoiceField
              label="Destination"
              value={chosen}
              onValue={setChosen}
              choices={ids.map((id) => [id, id] as const)}
            />
            <p>{words.calls(formatCount(members))}</p>
          </>
        )}
      </div>
      <div class="actions">
        <Button onClick={onClose}>Cancel</Button>
        <Button kind="main-action" disabled={chosen === undefined} onClick={send}>
          Send members
        </Button>
      </div>
    </Dialog>
  );
}
