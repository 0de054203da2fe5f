/** A field for JavaScript. Where its editor cannot be loaded, it is a field for text. */
import { useLayoutEffect, useRef } from 'preact/hooks';
import { useLoaded } from '../shell/loaded.ts';
import type { CodeEditor, openCodeEditor } from './code-editor.ts';
import { About, TextField } from './field.tsx';

interface CodeProps {
  readonly label: string;
  readonly hint: string;
  readonly value: string;
  readonly onValue: (value: string) => void;
  /** The rule that the code breaks, or why it failed. */
  readonly problem: string | undefined;
  /** The line of the problem, counted from 1. */
  readonly line: number | undefined;
}

const load = () => import('./code-editor.ts');

export function CodeField(props: CodeProps) {
  const { module, error } = useLoaded(load);
  if (error !== undefined) return <TextField {...props} lines={16} mono />;
  const { label, hint, problem } = props;
  return (
    <div class="field">
      <span class="label">{label}</span>
      {module ? (
        <Editor {...props} open={module.openCodeEditor} />
      ) : (
        <div class="code-editor skeleton" aria-busy="true" />
      )}
      <About hint={hint} problem={problem} />
    </div>
  );
}

function Editor({ open, label, value, onValue, line }: CodeProps & { readonly open: typeof openCodeEditor }) {
  const host = useRef<HTMLDivElement>(null);
  const editor = useRef<CodeEditor | undefined>(undefined);
  const latest = useRef(onValue);
  latest.current = onValue;
  useLayoutEffect(() => {
    const root = host.current?.attachShadow({ mode: 'open' });
    if (!root) return;
    editor.current = open(root, { text: value, label, onText: (text) => latest.current(text) });
    return () => editor.current?.close();
  }, []);
  useLayoutEffect(() => editor.current?.setText(value), [value]);
  useLayoutEffect(() => editor.current?.mark(line), [line]);
  return <div ref={host} class="code-editor" />;
}
