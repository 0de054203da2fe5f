import { useId, useRef, useState } from 'preact/hooks';
import { api, ask, isAbort, type Schema } from '../../api/client.ts';
import { uploadOf } from '../../api/upload.ts';
import { Button } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { confirmed } from '../../parts/dialog.tsx';
import { Form } from '../../parts/entry-form.tsx';
import { CheckField, ChoiceField, problemOf, TextField } from '../../parts/field.tsx';
import { useSubmission } from '../../parts/form.ts';
import { formatBytes, formatCount, formatCounted, formatShare } from '../../parts/format.ts';
import { toast } from '../../parts/notes.tsx';
import { isolated } from '../../text/isolated.ts';
import { place } from '../../url/location.ts';

const words = {
  lists: {
    whole: 'The whole list (others leave)',
    changes: 'Changes (who joins, who leaves)',
  },
  formats: {
    whole: 'CSV with a userId column or a single column, or NDJSON.',
    changes: 'CSV with the columns added and removed, or NDJSON with lists of these names.',
  },
};

interface UploadProps {
  readonly source: string;
  readonly names: readonly string[];
  readonly onDone: () => Promise<void>;
}

/**
 * Uploads the list of an audience: first to see who joins and leaves, then to change it. Shows how much was sent. The browser streams the
 * file, so it may be of any size.
 */
export function Upload({ source, names, onDone }: UploadProps) {
  const [name, setName] = useState('');
  const [file, setFile] = useState<File>();
  const [content, setContent] = useState<keyof typeof words.lists>('whole');
  const [allowsEmpty, setAllowEmpty] = useState(false);
  const isWhole = content === 'whole';
  const allowEmpty = isWhole && allowsEmpty;
  const submission = useSubmission();
  const { isBusy, error, run } = submission;
  const id = useId();
  const [sent, setSent] = useState(0);
  const aborter = useRef<AbortController | undefined>(undefined);
  /** Resolves with undefined where the upload was canceled. */
  const send = async (list: File, query: { readonly dryRun?: boolean }) => {
    const isJson = list.type.includes('json') || /\.(nd)?jsonl?$/i.test(list.name);
    const own = new AbortController();
    aborter.current = own;
    setSent(0);
    const request = {
      params: { path: { id: source, name }, query: { ...query, ...(allowEmpty && { allowEmpty }) } },
      body: list as unknown as string,
      bodySerializer: () => list,
      headers: { 'Content-Type': isJson ? 'application/x-ndjson' : 'text/csv' },
      fetch: uploadOf(list, own.signal, setSent),
    };
    const path = '/v1/sources/{id}/audiences/{name}';
    const answered = ask(isWhole ? api.PUT(path, request) : api.PATCH(path, request));
    try {
      return await answered;
    } catch (error) {
      if (!isAbort(error)) throw error;
      toast('Upload canceled. An incomplete list changes nothing.');
      return undefined;
    }
  };
  const preview = async (list: File): Promise<Schema['AudiencePreview'] | undefined> => {
    let found: Schema['AudiencePreview'] | undefined;
    await run(async () => {
      const answer = await send(list, { dryRun: true });
      if (answer && 'joining' in answer) found = answer;
    });
    return found;
  };
  const upload = async (): Promise<void> => {
    const begin = place.peek();
    const changes = file && (await preview(file));
    if (!changes) return;
    if (place.peek() !== begin) {
      toast('You left the page before the list was confirmed. Nothing was changed.');
      return;
    }
    if (changes.added + changes.removed === 0) {
      toast('The audience has these members already. Nothing was changed.');
      return;
    }
    const action = isWhole ? 'Replace' : 'Change';
    const asked = {
      title: `${action} the members of ${isolated(name)}?`,
      message: <Preview {...changes} />,
      action: `${action} members`,
      danger: changes.removed > 0,
    };
    if (!(await confirmed(asked))) return;
    await run(async () => {
      if (!(await send(file, {}))) return;
      toast('List received. Sending changes.');
      await onDone();
    });
  };
  return (
    <Card title="Upload a list">
      <Form state={submission} onSubmit={upload} action="Upload a list" kind="main-action">
        <TextField
          label="Name of the audience"
          hint="If the audience does not exist, it is created."
          value={name}
          onValue={setName}
          required
          suggestions={names}
          problem={problemOf(error, 'name')}
        />
        <div class="field">
          <label for={id}>File</label>
          <input
            id={id}
            type="file"
            accept=".csv,.ndjson,.jsonl,text/csv,application/x-ndjson"
            required
            aria-describedby={`${id}-hint`}
            onChange={(event) => setFile(event.currentTarget.files?.[0])}
          />
          <p class="hint" id={`${id}-hint`}>
            {words.formats[content]}
          </p>
        </div>
        <ChoiceField
          label="The file has"
          value={content}
          onValue={setContent}
          choices={Object.entries(words.lists)}
        />
        {isWhole && (
          <CheckField
            label="Allow an empty list (all members leave)"
            value={allowsEmpty}
            onValue={setAllowEmpty}
          />
        )}
        <p role="status">{isBusy && file && `Uploading and checking ${formatBytes(file.size)} …`}</p>
        {isBusy && file && (
          <div class="row">
            <progress class="progress" max={file.size} value={sent} aria-label="Upload progress" />
            <span class="numeric small">
              {formatShare(sent, file.size)} · {formatBytes(sent)} of {formatBytes(file.size)} sent
            </span>
            {/* The server has the whole list, and may have taken it. */}
            {sent < file.size && (
              <Button small onClick={() => aborter.current?.abort()}>
                Cancel the upload
              </Button>
            )}
          </div>
        )}
      </Form>
    </Card>
  );
}

function Preview({ members, added, removed, joining, leaving }: Schema['AudiencePreview']) {
  return (
    <>
      <p>
        The file has {formatCounted(members, 'user')}. An identify call is sent for each user who joins or
        leaves.
      </p>
      <Users title="Join" count={added} users={joining} />
      <Users title="Leave" count={removed} users={leaving} />
    </>
  );
}

interface UsersProps {
  readonly title: string;
  readonly count: number;
  /** The first of them. */
  readonly users: readonly string[];
}

function Users({ title, count, users }: UsersProps) {
  return (
    <p class="breakable">
      <strong>
        {title}: {formatCount(count)}
      </strong>{' '}
      {users.map(isolated).join(', ')}
      {count > users.length && ' …'}
    </p>
  );
}
