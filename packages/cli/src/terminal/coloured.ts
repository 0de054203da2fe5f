import { styleText } from 'node:util';

/** `runCli` removes the colours where standard output does not show them. */
export function coloured(colour: Parameters<typeof styleText>[0], text: string): string {
  return styleText(colour, text, { validateStream: false });
}
