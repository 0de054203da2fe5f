import { useState } from 'preact/hooks';
import { api, ask, askWhole } from '../../api/client.ts';
import { Action } from '../../parts/action.tsx';
import { Button } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { Id } from '../../parts/code.tsx';
import { attempt } from '../../parts/notes.tsx';
import { Once } from '../../parts/once.tsx';
import { text } from '../../text/index.ts';
import type { Version, VersionProps } from '../../versions/change.ts';
import { requests, type Source } from './requests.ts';

const words = text.sources;

/** The write keys of a source. Rotation: add one, change the applications, remove the old one. */
export function WriteKeys({ version, onVersion }: VersionProps<Source>) {
  const [added, setAdded] = useState<string>();
  const { id, writeKeys } = version.data;
  const params = { path: { id } };
  const show = (changed: Version<Source> | undefined): void => {
    if (changed) onVersion(changed);
  };
  const add = async (): Promise<void> => {
    const answer = await attempt(() => ask(api.POST('/v1/sources/{id}/write-keys', { params })));
    if (!answer) return;
    setAdded(answer.writeKey);
    show(await attempt(() => requests.load(id)));
  };
  return (
    <Card
      title={words.keys}
      actions={
        <Button small onClick={add}>
          {words.addKey}
        </Button>
      }
    >
      <div class="stack">
        <p class="quiet">{words.keysLead}</p>
        <ul class="stack tight">
          {writeKeys.map((key) => (
            <li key={key} class="row spread">
              <Id of={key} />
              {writeKeys.length > 1 && (
                <Action
                  small
                  kind="danger"
                  label={`${text.common.remove} ${key}`}
                  question={{
                    title: words.removeKeyTitle,
                    message: (
                      <>
                        <p>
                          <code class="breakable">{key}</code>
                        </p>
                        <p>{words.removeKeyMessage}</p>
                      </>
                    ),
                  }}
                  request={() => {
                    const path = { id, key };
                    return askWhole(api.DELETE('/v1/sources/{id}/write-keys/{key}', { params: { path } }));
                  }}
                  done={words.removedKey}
                  after={show}
                >
                  {text.common.remove}
                </Action>
              )}
            </li>
          ))}
        </ul>
      </div>
      {added !== undefined && (
        <Once
          title={words.newKey}
          lead={words.newKeyLead}
          secret={added}
          onClose={() => {
            setAdded(undefined);
          }}
        />
      )}
    </Card>
  );
}
