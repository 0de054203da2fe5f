import { useState } from 'preact/hooks';
import { api, ask, askWhole } from '../../api/client.ts';
import { Action } from '../../parts/action.tsx';
import { Button } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { Id } from '../../parts/code.tsx';
import { attempt } from '../../parts/notes.tsx';
import { Once } from '../../parts/once.tsx';
import type { Version, VersionProps } from '../../versions/change.ts';
import { requests, type Source } from './requests.ts';

const words = {
  keysLead:
    'To rotate a key, add a new one, update your applications, then remove the old one. Calls with a removed key are refused.',
  restored: 'Write key restored. Calls that were refused meanwhile are not delivered.',
};

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
  const restore = async (key: string): Promise<Version<Source>> => {
    const { data, etag } = await requests.load(id);
    return requests.patch(id, etag, { writeKeys: [...data.writeKeys, key] });
  };
  return (
    <Card
      title="Write keys"
      actions={
        <Button small onClick={add}>
          Add a write key
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
                  label={`Remove ${key}`}
                  question={{
                    title: 'Remove this write key?',
                    message: (
                      <>
                        <p>
                          <code class="breakable">{key}</code>
                        </p>
                        <p>
                          Calls that use it are refused from now on, and never delivered. Make sure that no
                          application still uses it.
                        </p>
                      </>
                    ),
                  }}
                  request={() => {
                    const path = { id, key };
                    return askWhole(api.DELETE('/v1/sources/{id}/write-keys/{key}', { params: { path } }));
                  }}
                  done="Write key removed."
                  undo={async () => show(await attempt(() => restore(key), words.restored))}
                  after={show}
                >
                  Remove
                </Action>
              )}
            </li>
          ))}
        </ul>
      </div>
      {added !== undefined && (
        <Once
          title="New write key"
          lead="Copy it into your application. The Connect tab has snippets that use it."
          secret={added}
          onClose={() => setAdded(undefined)}
        />
      )}
    </Card>
  );
}
