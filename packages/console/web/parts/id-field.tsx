import { TextField } from './field.tsx';
import { idOf } from './proposed-id.ts';

interface IdFieldProps {
  /** Of the new entry. */
  readonly name: string;
  /** What was typed. Until then an id is proposed. */
  readonly value: string | undefined;
  readonly onValue: (value: string) => void;
  readonly problem?: string | undefined;
}

/** The id of a new entry. */
export function IdField({ name, value, onValue, problem }: IdFieldProps) {
  return (
    <TextField
      label="Id"
      hint="Proposed from the name. Cannot be changed later. Leave empty to generate one."
      onValue={onValue}
      problem={problem}
      value={value ?? idOf(name)}
      mono
    />
  );
}
