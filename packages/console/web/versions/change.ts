/** Changes an entry. If somebody else has changed it meanwhile, both versions are kept until one is chosen. */
import { useState } from 'preact/hooks';
import { ApiError } from '../api/client.ts';
import { useSubmission } from '../parts/form.ts';
import { confirmed, type Question } from '../parts/dialog.tsx';
import { attempt, toast } from '../parts/notes.tsx';
import { conflictsOf, joined, mergePatchOf, type Choice, type Entry } from './merge.ts';

/** An entry with the tag of its version. */
export interface Version<Data> {
  readonly data: Data;
  readonly etag: string | undefined;
}

/** What a part of a page gets that shows an entry and changes it. */
export interface VersionProps<Data> {
  readonly version: Version<Data>;
  readonly onVersion: (version: Version<Data>) => void;
}

export interface Divergence<Data> {
  readonly base: Data;
  readonly mine: Data;
  readonly theirs: Version<Data>;
}

/** The requests of a kind of entry. All throw ApiError. */
export interface Requests<Data> {
  readonly load: (id: string, signal?: AbortSignal) => Promise<Version<Data>>;
  /** Sends a merge patch for the version with this tag. */
  readonly patch: (id: string, etag: string | undefined, body: Entry) => Promise<Version<Data>>;
  readonly create: (entry: Data) => Promise<unknown>;
  readonly remove: (id: string) => Promise<unknown>;
}

/** Of a change by which events are lost. */
export interface Loss<Data> {
  /** Asked before, where there is one. */
  readonly question?: Omit<Question, 'danger'>;
  /** The fields that an undo sets back. */
  readonly fields: readonly (keyof Data & string)[];
}

export type LossOf<Data> = (before: Data, after: Data) => Loss<Data> | undefined;

export interface Change<Data> {
  readonly isBusy: boolean;
  readonly error: ApiError | undefined;
  readonly divergence: Divergence<Data> | undefined;
  save(mine: Data): Promise<boolean>;
  /** Saves my changes on top of theirs. */
  resolve(choices: Readonly<Record<string, Choice>>): Promise<boolean>;
  /** Shows their version. */
  discard(): void;
}

const preconditionFailed = 412;

interface Editing<Data, Draft> {
  readonly draft: Draft;
  readonly setDraft: (draft: Draft) => void;
  /** The version that the draft changes. */
  readonly base: Version<Data>;
  /** Begins again with the values of a version, and with what was changed since the form was shown with which it was called. */
  readonly restart: (version: Version<Data>) => void;
}

/** The form of an entry: its values, and the change that saves them. */
export function useEntryForm<Data extends { readonly id: string }, Draft extends object>(
  { version, onVersion }: VersionProps<Data>,
  requests: Requests<Data>,
  draftOf: (data: Data) => Draft,
  lossOf?: LossOf<Data>,
) {
  const { restart, ...editing } = useEditing(version, draftOf);
  const onSaved = (saved: Version<Data>): void => {
    restart(saved);
    onVersion(saved);
  };
  const change = useChange(requests, editing.base, { onSaved, lossOf });
  return { ...editing, change };
}

/**
 * The values of a form. A newer version is taken over for all fields that were not changed here, so that nothing that was typed is lost.
 * Where both have changed one field, the form keeps its version, and saving it shows the conflict.
 */
function useEditing<Data, Draft extends object>(
  version: Version<Data>,
  draftOf: (data: Data) => Draft,
): Editing<Data, Draft> {
  const [kept, setKept] = useState({ base: version, draft: draftOf(version.data) });
  const current = onTopOf(version, kept, draftOf);
  return {
    ...current,
    setDraft(draft) {
      setKept({ base: current.base, draft });
    },
    restart(from) {
      setKept((kept) => {
        const drafts = [current, onTopOf(version, kept, draftOf)].map(({ draft }) => draft);
        const [sent, now, saved] = [...drafts, draftOf(from.data)] as unknown as [Entry, Entry, Entry];
        return { base: from, draft: joined(sent, now, saved, {}) as Draft };
      });
    },
  };
}

interface Kept<Data, Draft> {
  readonly base: Version<Data>;
  readonly draft: Draft;
}

function onTopOf<Data, Draft extends object>(
  version: Version<Data>,
  kept: Kept<Data, Draft>,
  draftOf: (data: Data) => Draft,
): Kept<Data, Draft> {
  if (version.etag === kept.base.etag) return kept;
  const drafts = [draftOf(kept.base.data), kept.draft, draftOf(version.data)] as unknown as [
    Entry,
    Entry,
    Entry,
  ];
  if (conflictsOf(...drafts).length > 0) return kept;
  return { base: version, draft: joined(...drafts, {}) as Draft };
}

function useChange<Data extends { readonly id: string }>(
  { load, patch }: Requests<Data>,
  version: Version<Data>,
  {
    onSaved,
    lossOf,
  }: { readonly onSaved: (version: Version<Data>) => void; readonly lossOf: LossOf<Data> | undefined },
): Change<Data> {
  const [divergence, setDivergence] = useState<Divergence<Data>>();
  const { isBusy, error, run } = useSubmission();

  const send = (base: Data, from: Version<Data>, mine: Data, loss?: Loss<Data>): Promise<boolean> =>
    run(async () => {
      const { id } = from.data;
      try {
        const saved = await patch(id, from.etag, mergePatchOf({ ...from.data }, { ...mine }));
        setDivergence(undefined);
        onSaved(saved);
        const undo = loss && (() => setBack(saved, from.data, loss));
        toast('Saved. The change takes effect within two seconds.', { undo });
      } catch (reason) {
        if (!(reason instanceof ApiError) || reason.status !== preconditionFailed) throw reason;
        setDivergence({ base, mine, theirs: await load(id) });
      }
    });

  /** Refused where somebody else has changed the entry meanwhile. */
  const setBack = async (
    { data, etag }: Version<Data>,
    before: Data,
    { fields }: Loss<Data>,
  ): Promise<void> => {
    const of = (entry: Data): Entry => Object.fromEntries(fields.map((field) => [field, entry[field]]));
    const undone = await attempt(() => patch(data.id, etag, mergePatchOf(of(data), of(before))), 'Undone.');
    if (undone) onSaved(undone);
  };

  return {
    isBusy,
    error,
    divergence,
    async save(mine) {
      const loss = lossOf?.(version.data, mine);
      if (loss?.question && !(await confirmed({ ...loss.question, danger: true }))) return false;
      return send(version.data, version, mine, loss);
    },
    async resolve(choices) {
      if (!divergence) return false;
      const { base, mine, theirs } = divergence;
      const result = joined({ ...base }, { ...mine }, { ...theirs.data }, choices) as unknown as Data;
      return send(theirs.data, theirs, result, lossOf?.(theirs.data, result));
    },
    discard() {
      if (divergence) onSaved(divergence.theirs);
      setDivergence(undefined);
    },
  };
}
