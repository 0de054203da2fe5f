import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, test } from 'node:test';
import { isTailraceError } from '@tailrace/errors';
import fc from 'fast-check';
import type { Configuration } from '../rules/schema.ts';
import { openExport, writeExport } from './export-file.ts';
import type { SealSecrets } from './sealing.ts';

const configuration: Configuration = {
  sources: [{ id: 'web', writeKeys: ['wk_web'], enabled: true }],
  destinations: [
    {
      id: 'crm',
      type: 'Webhooks',
      enabled: true,
      sources: ['web', 'deleted'],
      settings: { sharedSecret: 's3cret-of-crm', webhooks: [{ url: 'https://crm.example.com/' }] },
    },
  ],
};
const origin = {
  createdAt: '2026-11-22T13:00:00.000Z',
  release: '0.1.0',
  cluster: 'cluster-1',
  prefix: 'tailrace.',
};
const key = Buffer.alloc(32, 1);
const byKey: SealSecrets = { keys: { current: key } };
const byPassphrase: SealSecrets = { keys: {}, passphrase: 'correct horse battery' };

/** The message of the error with which `text` cannot be opened. */
async function refusalOf(text: string, secrets: SealSecrets = byKey): Promise<string> {
  try {
    await openExport(text, secrets);
  } catch (error) {
    assert.ok(isTailraceError(error, 'invalid-export'), String(error));
    return error.message;
  }
  assert.fail('the export was opened');
}

describe('an export', () => {
  test('opens with the secret key or the passphrase that sealed it', async () => {
    for (const secrets of [byKey, byPassphrase]) {
      const opened = await openExport(await writeExport(configuration, origin, secrets), secrets);
      assert.deepEqual(opened.configuration, configuration);
      const { createdAt, cluster, sources, destinations } = opened.header;
      assert.deepEqual([createdAt, cluster, sources, destinations], [origin.createdAt, origin.cluster, 1, 1]);
    }
  });

  test('opens with a key that is the previous one by now', async () => {
    const text = await writeExport(configuration, origin, byKey);
    const rotated = { keys: { current: randomBytes(32), previous: key } };
    assert.deepEqual((await openExport(text, rotated)).configuration, configuration);
  });

  test('shows its origin in plain text, and no secret, write key or URL', async () => {
    const text = await writeExport(configuration, origin, byKey);
    assert.match(text, /^tailrace-export\/1\ncreated-at: 2026-11-22T13:00:00\.000Z\nrelease: 0\.1\.0\n/);
    assert.doesNotMatch(text, /s3cret|wk_web|example/);
  });

  test('is different each time, also with the same key', async () => {
    const texts = await Promise.all([1, 2].map(() => writeExport(configuration, origin, byKey)));
    assert.notEqual(texts[0]?.split('\n\n')[1], texts[1]?.split('\n\n')[1]);
  });

  test('opens with the line ends of Windows and a byte order mark', async () => {
    const text = `\uFEFF${(await writeExport(configuration, origin, byKey)).replaceAll('\n', '\r\n')}`;
    assert.deepEqual((await openExport(text, byKey)).configuration, configuration);
  });

  test('keeps keys that a later release added', async () => {
    const later = { ...configuration, sources: [{ ...configuration.sources[0], region: 'eu' }] };
    const text = await writeExport(later as Configuration, origin, byKey);
    assert.deepEqual((await openExport(text, byKey)).configuration, later);
  });

  test('needs a key or a passphrase', async () => {
    await assert.rejects(writeExport(configuration, origin, { keys: {} }), { code: 'secret-key-missing' });
  });
});

describe('an export that cannot be opened is refused with what is wrong', () => {
  test('another key, no key, a wrong passphrase, no passphrase', async () => {
    const sealed = await writeExport(configuration, origin, byKey);
    assert.match(
      await refusalOf(sealed, { keys: { current: Buffer.alloc(32, 2) } }),
      /sealed with the secret key [0-9a-f]{8}, and the given keys are [0-9a-f]{8}\. Set TAILRACE_SECRET_KEY /,
    );
    assert.match(await refusalOf(sealed, { keys: {} }), /the given keys are none/);
    const withPassphrase = await writeExport(configuration, origin, byPassphrase);
    assert.match(await refusalOf(withPassphrase, { keys: {}, passphrase: 'x' }), /is not its passphrase/);
    assert.match(
      await refusalOf(withPassphrase),
      /sealed with a passphrase\. Set TAILRACE_EXPORT_PASSPHRASE/,
    );
  });

  test('another file, a later format, an unknown seal', async () => {
    const text = await writeExport(configuration, origin, byKey);
    for (const other of ['', 'sources: []', '{}', 'tailrace-export/x\n']) {
      assert.match(await refusalOf(other), /not an export of Tailrace/);
    }
    assert.match(
      await refusalOf(text.replace('/1\n', '/2\n')),
      /format 2, .*the release that wrote it \(0\.1\.0\)/,
    );
    const unsealed = text.replace(/^seal: .*$/m, 'seal: passphrase scrypt-40 00');
    assert.match(await refusalOf(unsealed), /damaged|seal/);
  });

  test('every truncation', async () => {
    const text = await writeExport(configuration, origin, byKey);
    for (let length = text.indexOf('\n') + 1; length < text.length - 2; length += 7) {
      assert.match(await refusalOf(text.slice(0, length)), /incomplete|damaged|seal/, `${length} characters`);
    }
  });

  test('every changed character, in the header too', async () => {
    const text = await writeExport(configuration, origin, byKey);
    await fc.assert(
      fc.asyncProperty(fc.nat(text.length - 2), async (at) => {
        const changed = `${text.slice(0, at)}${text[at] === 'A' ? 'B' : 'A'}${text.slice(at + 1)}`;
        const opened = await openExport(changed, byKey).catch((error: unknown) => {
          assert.ok(isTailraceError(error, 'invalid-export'), String(error));
        });
        // The names of the last two header lines and the line ends of the body have no content.
        if (opened) assert.deepEqual(opened.configuration, configuration);
      }),
      { numRuns: 300 },
    );
  });

  test('a header that was changed together with its checksum', async () => {
    const { hash } = await import('node:crypto');
    const text = await writeExport(configuration, origin, byKey);
    const [head = '', body = ''] = text.split('\n\n');
    const header = `${head.replace('cluster-1', 'cluster-2').replace(/\n(?:bytes|sha256): .*/g, '')}\n`;
    const sealed = Buffer.from(body, 'base64');
    const sum = hash('sha256', Buffer.concat([Buffer.from(header), sealed]), 'hex');
    const forged = `${header}bytes: ${sealed.length}\nsha256: ${sum}\n\n${body}`;
    assert.match(await refusalOf(forged), /the file was changed/);
  });

  test('a passphrase that costs gigabytes of memory', async () => {
    const { hash } = await import('node:crypto');
    const header = 'tailrace-export/1\nseal: passphrase scrypt-30 00112233445566778899aabbccddeeff\n';
    const sum = hash('sha256', header, 'hex');
    assert.match(
      await refusalOf(`${header}bytes: 0\nsha256: ${sum}\n\n`, byPassphrase),
      /seal that this release/,
    );
  });
});
