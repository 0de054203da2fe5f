/** Fields of forms. The rule that a value breaks stands below its field, and a screen reader reads it with the field. */
import type { ComponentChildren, Ref, SelectHTMLAttributes } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';

interface FieldProps {
  readonly label: string;
  readonly hint?: ComponentChildren;
  /** The rule that the value breaks. */
  readonly problem?: string | undefined;
}

interface TextProps extends FieldProps {
  readonly value: string;
  readonly onValue: (value: string) => void;
  readonly type?: 'text' | 'password';
  /** More than one line. */
  readonly lines?: number;
  readonly placeholder?: string;
  readonly required?: boolean;
  readonly mono?: boolean;
  readonly autofocus?: boolean;
  readonly suggestions?: readonly string[];
  readonly disabled?: boolean;
}

export function TextField(props: TextProps) {
  const { label, hint, problem, value, onValue, type = 'text', lines, suggestions } = props;
  const id = useId();
  const element = useRef<HTMLElement>(null);
  useLayoutEffect(() => {
    // The attribute works only while a document is loaded, and in a dialog.
    if (props.autofocus) element.current?.focus();
  }, []);
  const given = {
    id,
    class: props.mono ? 'input mono' : 'input',
    value,
    placeholder: props.placeholder,
    required: props.required,
    autofocus: props.autofocus,
    disabled: props.disabled,
    autocomplete: 'off' as const,
    spellcheck: false,
    'aria-invalid': problem !== undefined,
    'aria-describedby': `${id}-about`,
  };
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {lines === undefined ? (
        <input
          {...given}
          ref={element as Ref<HTMLInputElement>}
          {...(type === 'password'
            ? { type: 'password' as const }
            : { type: 'text' as const, list: suggestions && `${id}-list` })}
          onInput={(event) => onValue(event.currentTarget.value)}
        />
      ) : (
        <textarea
          {...given}
          ref={element as Ref<HTMLTextAreaElement>}
          rows={lines}
          onInput={(event) => onValue(event.currentTarget.value)}
        />
      )}
      {suggestions && (
        <datalist id={`${id}-list`}>
          {suggestions.map((one) => (
            <option key={one} value={one} />
          ))}
        </datalist>
      )}
      <About id={`${id}-about`} hint={hint} problem={problem} />
    </div>
  );
}

/** A time that the browser picks, in the zone of the reader: `2026-11-22T14:03`, or empty. */
export function TimeField({ label, value, onValue }: Pick<TextProps, 'label' | 'value' | 'onValue'>) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        id={id}
        class="input"
        type="datetime-local"
        value={value}
        aria-describedby={`${id}-about`}
        onInput={(event) => onValue(event.currentTarget.value)}
      />
      <About id={`${id}-about`} hint={undefined} problem={undefined} />
    </div>
  );
}

interface SelectProps<Value extends string> {
  readonly value: Value;
  readonly onValue: (value: Value) => void;
  readonly choices: readonly (readonly [value: string, label: string])[];
}

export function Select<Value extends string>({
  value,
  onValue,
  choices,
  ...given
}: SelectProps<Value> & Pick<SelectHTMLAttributes, 'id' | 'aria-label' | 'aria-describedby'>) {
  return (
    <select
      {...given}
      class="input"
      value={value}
      onChange={(event) => onValue(event.currentTarget.value as Value)}
    >
      {choices.map(([one, text]) => (
        <option key={one} value={one} selected={one === value}>
          {text}
        </option>
      ))}
    </select>
  );
}

export function ChoiceField<Value extends string>({
  label,
  hint,
  problem,
  ...select
}: FieldProps & SelectProps<Value>) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <Select {...select} id={id} aria-describedby={`${id}-about`} />
      <About id={`${id}-about`} hint={hint} problem={problem} />
    </div>
  );
}

export function CheckField({
  label,
  hint,
  value,
  onValue,
  disabled,
}: Pick<FieldProps, 'label' | 'hint'> & {
  readonly value: boolean;
  readonly onValue: (value: boolean) => void;
  readonly disabled?: boolean;
}) {
  const id = useId();
  return (
    <div class="field">
      <div class="row check">
        <input
          id={id}
          type="checkbox"
          checked={value}
          disabled={disabled}
          aria-describedby={`${id}-about`}
          onChange={(event) => onValue(event.currentTarget.checked)}
        />
        <label for={id}>{label}</label>
      </div>
      <About id={`${id}-about`} hint={hint} problem={undefined} />
    </div>
  );
}

/** What stands below a field; read with it where the field names the id. */
export function About({
  id,
  hint,
  problem,
}: Pick<FieldProps, 'hint' | 'problem'> & { readonly id?: string | undefined }) {
  return (
    <div id={id} aria-live="polite">
      {problem !== undefined && <p class="problem">{problem}</p>}
      {hint !== undefined && <p class="hint">{hint}</p>}
    </div>
  );
}

/** The rule of a field among the problems of an error: `problemOf(error, 'settings.webhooks[0].url')`. */
export function problemOf(
  error: { readonly problems: readonly { readonly field: string; readonly rule: string }[] } | undefined,
  field: string,
): string | undefined {
  const found = error?.problems.find((problem) => problem.field === field);
  return found && sentence(found.rule);
}

/** The rule of a field or of a field in it, such as one header. */
export function problemWithin(error: Parameters<typeof problemOf>[0], field: string): string | undefined {
  const found = error?.problems.find((problem) => problem.field.startsWith(field));
  return found && `${found.field.slice(field.length).replace(/^\./, '')} ${found.rule}`.trim();
}

function sentence(rule: string): string {
  return `${rule.charAt(0).toUpperCase()}${rule.slice(1)}${rule.endsWith('.') ? '' : '.'}`;
}
