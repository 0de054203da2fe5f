import { useId, useRef, useState } from 'preact/hooks';
import { api, ask, isAbort } from '../../api/client.ts';
import { uploadOf } from '../../api/upload.ts';
import { Button } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { Form } from '../../parts/entry-form.tsx';
import { CheckField, problemOf, TextField } from '../../parts/field.tsx';
import { useSubmission } from '../../parts/form.ts';
import { formatBytes, formatShare } from '../../parts/format.ts';
import { toast } from '../../parts/notes.tsx';

interface UploadProps {
  readonly source: string;
  readonly names: readonly string[];
  readonly onDone: () => Promise<void>;
}

/** Uploads the list of an audience, and shows how much was sent. The browser streams the file, so it may be of any size. */
export function Upload({ source, names, onDone }: UploadProps) {
  const [name, setName] = useState('');
  const [file, setFile] = useState<File>();
  const [allowEmpty, setAllowEmpty] = useState(false);
  const submission = useSubmission();
  const { isBusy, error, run } = submission;
  const id = useId();
  const [sent, setSent] = useState(0);
  const aborter = useRef<AbortController | undefined>(undefined);
  const upload = (): Promise<boolean> =>
    run(async () => {
      if (!file) return;
      const isJson = file.type.includes('json') || /\.(nd)?jsonl?$/i.test(file.name);
      const params = { path: { id: source, name }, query: allowEmpty ? { allowEmpty } : {} };
      const own = new AbortController();
      aborter.current = own;
      setSent(0);
      const answered = ask(
        api.PUT('/v1/sources/{id}/audiences/{name}', {
          params,
          body: file as unknown as string,
          bodySerializer: () => file,
          headers: { 'Content-Type': isJson ? 'application/x-ndjson' : 'text/csv' },
          fetch: uploadOf(file, own.signal, setSent),
        }),
      );
      try {
        await answered;
      } catch (error) {
        if (!isAbort(error)) throw error;
        toast('Upload canceled. An incomplete list changes nothing.');
        return;
      }
      toast('List received. Sending changes.');
      await onDone();
    });
  return (
    <Card title="Upload a list">
      <Form state={submission} onSubmit={upload} action="Upload a list" kind="main-action">
        <TextField
          label="Name of the audience"
          hint="If the audience exists, the list replaces it. Users who are not on the list leave."
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
            onChange={(event) => {
              setFile(event.currentTarget.files?.[0]);
            }}
          />
          <p class="hint" id={`${id}-hint`}>
            CSV with a userId column or a single column, or NDJSON.
          </p>
        </div>
        <CheckField
          label="Allow an empty list: all members leave"
          value={allowEmpty}
          onValue={setAllowEmpty}
        />
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
