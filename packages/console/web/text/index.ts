/** Words for what the API names, and those of the shell. Other text stands where it is shown. The terms are those of docs/glossary.md. */
import { errors } from './errors.ts';
import { outcomes } from './outcomes.ts';
import { reasons } from './reasons.ts';
import { shell } from './shell.ts';
import { status } from './status.ts';

export const text = { errors, outcomes, reasons, shell, status };
