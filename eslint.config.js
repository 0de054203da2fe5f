import js from '@eslint/js';
import prettier from 'eslint-config-prettier';
import { defineConfig, globalIgnores } from 'eslint/config';
import tseslint from 'typescript-eslint';

export default defineConfig(
  // test/api-client.test.ts compiles calls.ts, against types that it generates.
  globalIgnores([
    ...['eslint.config.js', '**/node_modules/', '.tailrace/', '**/dist/'],
    'test/api-client/calls.ts',
    'packages/console/web/api/schema.d.ts',
  ]),
  js.configs.recommended,
  tseslint.configs.strictTypeChecked,
  tseslint.configs.stylisticTypeChecked,
  prettier,
  {
    languageOptions: {
      parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname },
    },
    rules: {
      '@typescript-eslint/consistent-type-definitions': ['error', 'interface'],
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      '@typescript-eslint/restrict-template-expressions': [
        'error',
        { allowNumber: true, allowBoolean: true },
      ],
      // node:test's `test()` and `describe()` return promises that the runner itself awaits.
      '@typescript-eslint/no-floating-promises': [
        'error',
        {
          allowForKnownSafeCalls: [
            { from: 'package', package: 'node:test', name: ['test', 'describe', 'it', 'suite'] },
          ],
        },
      ],
      eqeqeq: ['error', 'always'],
      'no-restricted-properties': [
        'error',
        { object: 'process', property: 'env', message: 'Only main.ts reads the environment.' },
      ],
    },
  },
  {
    files: [
      ...['services/*/src/main.ts', 'packages/cli/src/main.ts', 'infra/**/*.ts', 'test/**/*.ts'],
      ...[
        'packages/analytics-node/src/node/platform.ts',
        'packages/analytics-node/examples/*.ts',
        'examples/**/*.ts',
      ],
    ],
    rules: { 'no-restricted-properties': 'off' },
  },
);
