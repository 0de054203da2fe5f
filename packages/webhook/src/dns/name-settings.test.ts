import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { followNameSettings, hasOtherSources, parseHosts, parseResolvConf } from './name-settings.ts';

test('a hosts file maps names to all of their addresses, ignoring case', () => {
  const hosts = parseHosts(`
127.0.0.1   localhost
::1         localhost ip6-localhost # this machine
10.0.0.7    Receiver.Example receiver
10.0.0.8    receiver.example
10.0.0.8    receiver.example
nonsense    other.example
`);
  assert.deepEqual(hosts.get('localhost'), [
    { address: '127.0.0.1', family: 4 },
    { address: '::1', family: 6 },
  ]);
  assert.deepEqual(
    hosts.get('receiver.example')?.map(({ address }) => address),
    ['10.0.0.7', '10.0.0.8'],
  );
  assert.equal(hosts.get('receiver')?.length, 1);
  assert.equal(hosts.has('other.example'), false);
});

test('resolv.conf sets the first three servers, the last search list and ndots, as Kubernetes writes it', () => {
  const settings = parseResolvConf(`
; made by the kubelet
search ns.svc.cluster.local svc.cluster.local cluster.local.
nameserver 10.96.0.10
nameserver fd00::10
nameserver not-an-address
nameserver 10.96.0.11
nameserver 10.96.0.12
options ndots:5 timeout:1 edns0
`);
  assert.deepEqual(settings, {
    servers: ['10.96.0.10', 'fd00::10', '10.96.0.11'],
    search: ['ns.svc.cluster.local', 'svc.cluster.local', 'cluster.local'],
    ndots: 5,
  });
  assert.deepEqual(parseResolvConf('search a b\ndomain c').search, ['c']);
  assert.equal(parseResolvConf('options ndots:99').ndots, 15);
  assert.equal(parseResolvConf('').ndots, 1);
});

test('a source of names other than the hosts file and name servers is detected', () => {
  assert.equal(hasOtherSources('hosts: files dns'), false);
  assert.equal(hasOtherSources('# nothing\npasswd: files ldap'), false);
  assert.equal(hasOtherSources('hosts: files resolve [!UNAVAIL=return] myhostname dns'), false);
  assert.equal(hasOtherSources('hosts: files mdns4_minimal [NOTFOUND=return] dns'), true);
});

test('changed files are read again, and missing files count as empty', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'tailrace-names-'));
  t.after(() => rm(folder, { recursive: true }));
  const files = {
    hosts: join(folder, 'hosts'),
    resolvConf: join(folder, 'resolv.conf'),
    nsswitch: join(folder, 'nsswitch.conf'),
  };
  const settings = followNameSettings(files, 0);
  assert.deepEqual(settings().servers, []);
  await writeFile(files.resolvConf, 'nameserver 10.0.0.1');
  assert.deepEqual(settings().servers, ['10.0.0.1']);
  await writeFile(files.hosts, '10.0.0.7 receiver.example');
  assert.ok(settings().hosts.has('receiver.example'));
  assert.equal(settings(), settings());
});
