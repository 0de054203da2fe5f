/**
 * An editor for JavaScript, from CodeMirror. It is loaded when the first one is shown. It stands in a shadow root, where its styles are sheets of
 * a script: the policy of control permits no style elements.
 */
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { javascriptLanguage } from '@codemirror/lang-javascript';
import { bracketMatching, HighlightStyle, indentOnInput, syntaxHighlighting } from '@codemirror/language';
import { StateEffect, StateField } from '@codemirror/state';
import { Decoration, EditorView, keymap, lineNumbers, type DecorationSet } from '@codemirror/view';
import { tags } from '@lezer/highlight';

export interface CodeEditor {
  readonly setText: (text: string) => void;
  /** Marks a line, which stays marked while others are edited; undefined marks none. */
  readonly mark: (line: number | undefined) => void;
  readonly close: () => void;
}

interface Opened {
  readonly text: string;
  readonly label: string;
  /** Called with the text when it was edited. */
  readonly onText: (text: string) => void;
}

/** The line that is marked, counted from 1. */
const setMark = StateEffect.define<number | undefined>();
const marked = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(shown, { effects, changes, newDoc }) {
    const asked = effects.find((effect) => effect.is(setMark));
    if (!asked) return shown.map(changes);
    const line = asked.value;
    if (line === undefined || line > newDoc.lines) return Decoration.none;
    return Decoration.set(Decoration.line({ class: 'cm-marked' }).range(newDoc.line(line).from));
  },
  provide: (field) => EditorView.decorations.from(field),
});

const colours = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword, tags.bool, tags.null], color: 'var(--accent)' },
  { tag: [tags.string, tags.special(tags.string), tags.regexp], color: 'var(--good)' },
  { tag: tags.number, color: 'var(--warning)' },
  { tag: tags.comment, color: 'var(--ink-soft)', fontStyle: 'italic' },
]);

const theme = EditorView.theme({
  '&': { height: '100%', color: 'var(--ink)' },
  '&.cm-focused': { outline: '2px solid var(--accent)', outlineOffset: '-2px' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.5' },
  '.cm-content': { caretColor: 'var(--ink)' },
  '.cm-gutters': { border: 'none', background: 'var(--sunken)', color: 'var(--ink-soft)' },
  '.cm-marked': { background: 'var(--bad-soft)' },
  '&.cm-focused .cm-matchingBracket': { background: 'var(--accent-soft)' },
});

export function openCodeEditor(root: ShadowRoot, { text, label, onText }: Opened): CodeEditor {
  const view = new EditorView({
    doc: text,
    parent: root,
    extensions: [
      lineNumbers(),
      history(),
      indentOnInput(),
      bracketMatching(),
      javascriptLanguage,
      syntaxHighlighting(colours),
      marked,
      theme,
      EditorView.lineWrapping,
      EditorView.contentAttributes.of({ 'aria-label': label }),
      // Tab leaves the editor, as it leaves every field.
      keymap.of([...defaultKeymap, ...historyKeymap]),
      EditorView.updateListener.of(({ docChanged, state }) => {
        if (docChanged) onText(state.doc.toString());
      }),
    ],
  });
  return {
    setText(next) {
      const { doc } = view.state;
      if (doc.toString() !== next) view.dispatch({ changes: { from: 0, to: doc.length, insert: next } });
    },
    mark: (line) => view.dispatch({ effects: setMark.of(line) }),
    close: () => view.destroy(),
  };
}
