/** What a child process of `npm start` gets of the environment, so that none has a secret that it does not need. */
import { fileVariable, variablesOf, type Environment } from '@tailrace/service';
import type { TObject } from 'typebox';

/** What any program may read: its surroundings, the language and the time, Node's own options with the proxies, and colours. */
const general =
  /^(PATH|HOME|USER|LOGNAME|SHELL|TMPDIR|TZ|LANG|LC_\w+|TERM|COLORTERM|NO_COLOR|FORCE_COLOR|NODE_\w+|SSL_CERT_(FILE|DIR)|LD_LIBRARY_PATH|(HTTPS?|NO)_PROXY|(https?|no)_proxy)$/;

/** The variables that `settings` describe, and those that any program may read. */
export function environmentOf(settings: TObject, env: Environment): Environment {
  const read = new Set(variablesOf(settings).flatMap((variable) => [variable.env, fileVariable(variable)]));
  return Object.fromEntries(Object.entries(env).filter(([name]) => read.has(name) || general.test(name)));
}

/** All but the secrets of `settings`: for Java, Maven and Docker, which read variables that nothing here describes. */
export function withoutSecrets(settings: TObject, env: Environment): Environment {
  const secrets = new Set(
    variablesOf(settings).flatMap((variable) => {
      const file = fileVariable(variable);
      return file === undefined ? [] : [variable.env, file];
    }),
  );
  return Object.fromEntries(Object.entries(env).filter(([name]) => !secrets.has(name)));
}
