/** A form of the API: its fields, the error of the answer, and the button that sends it. */
import type { ComponentChildren } from 'preact';
import type { ApiError } from '../api/client.ts';
import { useState } from 'preact/hooks';
import { hrefOf } from '../url/location.ts';
import { Button, LinkButton } from './button.tsx';
import { Card, PageHead } from './card.tsx';
import { Dialog } from './dialog.tsx';
import { problemOf } from './field.tsx';
import { useSubmission } from './form.ts';
import { ErrorNote } from './notes.tsx';

interface FormProps {
  readonly children: ComponentChildren;
  readonly state: { readonly isBusy: boolean; readonly error: ApiError | undefined };
  readonly onSubmit: () => unknown;
  /** The text of the button. */
  readonly action: string;
  readonly kind?: 'main-action' | 'danger' | 'plain';
  readonly disabled?: boolean;
  /** As wide as its card. By default fields are as wide as what is typed. */
  readonly wide?: boolean;
  /** Beside the button. */
  readonly beside?: ComponentChildren;
  /** Of a form in a dialog. */
  readonly onCancel?: () => void;
}

export function Form(props: FormProps) {
  const { children, state, onSubmit, action, kind, disabled, wide, beside, onCancel } = props;
  return (
    <form
      class={wide ? 'stack' : 'stack form'}
      onSubmit={(event) => {
        event.preventDefault();
        void onSubmit();
      }}
    >
      {children}
      <ErrorNote error={state.error} />
      <div class={onCancel ? 'actions' : 'row'}>
        {onCancel && <Button onClick={onCancel}>Cancel</Button>}
        <Button type="submit" kind={kind} disabled={disabled} isBusy={state.isBusy}>
          {action}
        </Button>
        {beside}
      </div>
    </form>
  );
}

interface CreateFormProps extends Pick<FormProps, 'children' | 'state' | 'onSubmit'> {
  /** Of the page and of the button. */
  readonly title: string;
  readonly lead: string;
  /** The page to return to. */
  readonly list: string;
}

/** The page that creates an entry. */
export function CreatePage({ title, lead, list, ...form }: CreateFormProps) {
  const cancel = <LinkButton href={hrefOf([list])}>Cancel</LinkButton>;
  return (
    <>
      <PageHead title={title} lead={lead} />
      <Card>
        <Form {...form} action={title} kind="main-action" beside={cancel} />
      </Card>
    </>
  );
}

/** Fields that most entries leave empty: folded, unless one was set or breaks a rule. */
export function MoreFields({
  title,
  isSet,
  problem,
  children,
}: {
  readonly title: string;
  readonly isSet: boolean;
  readonly problem?: string | undefined;
  readonly children: ComponentChildren;
}) {
  const [wasSet] = useState(isSet);
  return (
    <details open={wasSet || problem !== undefined}>
      <summary>{title}</summary>
      <div class="stack tight">{children}</div>
    </details>
  );
}

interface FormDialogProps extends Pick<FormProps, 'children' | 'state' | 'onSubmit' | 'action'> {
  readonly title: string;
  readonly onClose: () => void;
}

/** A form in a window over the page. */
export function FormDialog({ title, onClose, ...form }: FormDialogProps) {
  return (
    <Dialog title={title} onClose={onClose}>
      <Form {...form} kind="main-action" wide onCancel={onClose} />
    </Dialog>
  );
}

/** Connects fields with a draft: `<TextField label={…} {...field('name')} />`, after `const field = fieldsOf(draft, setDraft, error)`. */
export function fieldsOf<Draft extends object>(
  draft: Draft,
  onDraft: (draft: Draft) => void,
  error?: ApiError,
) {
  // Two fields may change before the next render, when a program fills them in.
  let latest = draft;
  return <Name extends keyof Draft & string>(name: Name) => ({
    value: draft[name],
    onValue: (value: Draft[Name]): void => {
      latest = { ...latest, [name]: value };
      onDraft(latest);
    },
    problem: problemOf(error, name),
  });
}

/**
 * The values of a form that `send` sends to the API: `<Form {...form} action={…}><TextField label={…} {...field('name')} /></Form>`.
 *
 * @param send throws ApiError
 */
export function useForm<Draft extends object>(
  initial: Draft | (() => Draft),
  send: (draft: Draft) => Promise<unknown>,
) {
  const [draft, setDraft] = useState<Draft>(initial);
  const state = useSubmission();
  return {
    draft,
    setDraft,
    field: fieldsOf(draft, setDraft, state.error),
    form: { state, onSubmit: () => state.run(() => send(draft)) },
  };
}
