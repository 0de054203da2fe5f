import assert from 'node:assert/strict';
import test from 'node:test';
import { redactDestination, redactSource, redactUrl } from './redact.ts';

test('nothing secret is left of a source or a destination, and the rest stays', () => {
  const source = { id: 'web', name: 'Website', writeKeys: ['wk_S3CRET', 'wk_S3CRET2'], enabled: true };
  assert.deepEqual(redactSource(source), { ...source, writeKeys: ['[redacted]', '[redacted]'] });

  const shown = redactDestination({
    id: 'crm',
    type: 'Webhooks',
    enabled: true,
    sources: ['web'],
    settings: {
      sharedSecret: 'S3CRET',
      previousSharedSecret: 'S3CRET2',
      standardWebhooks: true,
      tls: { ca: 'PEM', clientCertificate: 'PEM', clientKey: 'S3CRET' },
      webhooks: [
        { url: 'https://crm.example.com:8443/hook?token=S3CRET#S3CRET', headers: { 'X-Key': 'S3CRET' } },
        { url: 'http://crm.example.com/' },
      ],
    },
  });
  assert.deepEqual(shown, {
    id: 'crm',
    type: 'Webhooks',
    enabled: true,
    sources: ['web'],
    settings: {
      sharedSecret: '[redacted]',
      previousSharedSecret: '[redacted]',
      standardWebhooks: true,
      tls: { ca: 'PEM', clientCertificate: 'PEM', clientKey: '[redacted]' },
      webhooks: [
        { url: 'https://crm.example.com:8443/hook', headers: { 'X-Key': '[redacted]' } },
        { url: 'http://crm.example.com/' },
      ],
    },
  });
});

test('a URL that cannot be taken apart is not shown at all', () => {
  assert.equal(redactUrl('S3CRET'), '[redacted]');
});
