/** Compiles programs without writing files. */
import path from 'node:path';
import ts from 'typescript';

const root = path.join(import.meta.dirname, '../..');

/** The compiler's complaints. @param texts files of this folder that are not on the disk, by their names */
export function compile(texts: Readonly<Record<string, string>>): string[] {
  const { config } = ts.readConfigFile(path.join(root, 'tsconfig.json'), (file) => ts.sys.readFile(file)) as {
    config: { compilerOptions: object };
  };
  const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, root);
  const host = ts.createCompilerHost(options);
  const given = new Map(
    Object.entries(texts).map(([name, text]) => [path.join(import.meta.dirname, name), text]),
  );
  host.fileExists = (file) => given.has(file) || ts.sys.fileExists(file);
  host.readFile = (file) => given.get(file) ?? ts.sys.readFile(file);
  host.getSourceFile = (file, language) => {
    const text = host.readFile(file);
    return text === undefined ? undefined : ts.createSourceFile(file, text, language);
  };
  const program = ts.createProgram(
    [...given.keys()],
    { ...options, lib: ['lib.es2024.d.ts', 'lib.dom.d.ts'] },
    host,
  );
  return ts.getPreEmitDiagnostics(program).map((diagnostic) => {
    const { file, start = 0, messageText } = diagnostic;
    const line = file ? file.getLineAndCharacterOfPosition(start).line + 1 : 0;
    const name = file ? path.basename(file.fileName) : '';
    return `${name}:${line} ${ts.flattenDiagnosticMessageText(messageText, '\n')}`;
  });
}
