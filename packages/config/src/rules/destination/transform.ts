/** `transform` of a destination: the script that makes its bodies. packages/transform runs it. */
import { Script } from 'node:vm';
import Type from 'typebox';

const mostBytes = 32 * 1024;

export const transformSchema = Type.Object(
  {
    code: Type.String({
      minLength: 1,
      format: 'transform',
      description: 'a script of up to 32 KB that ends with a function of the event',
    }),
    version: Type.Optional(
      Type.Integer({
        minimum: 1,
        description: 'a whole number, which the server counts up when the code changes',
      }),
    ),
  },
  {
    additionalProperties: false,
    title: 'Transform',
    description: 'a mapping with code',
    examples: [{ code: '(event) => ({ text: `${event.userId} did ${event.event}` })' }],
  },
);

/** Why the text is not a script, as a clause; undefined if it is. Nothing of it is run. */
export function transformProblem(code: string): string | undefined {
  const bytes = Buffer.byteLength(code);
  if (bytes > mostBytes) return `has ${bytes} bytes, and ${mostBytes} are allowed`;
  try {
    return void new Script(code, { filename: 'transform.js' });
  } catch (error) {
    if (!(error instanceof SyntaxError)) return 'is nested too deeply';
    const [, line] = /^transform\.js:(\d+)/.exec(error.stack ?? '') ?? [];
    return `has a syntax error${line === undefined ? '' : ` in line ${line}`}: ${error.message}`;
  }
}
