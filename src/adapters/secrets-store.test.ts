import assert from 'node:assert/strict';
import { it } from 'node:test';
import { makeApi } from '../../test/contract/api-under-test.ts';
import { createSecrets } from './secrets-store.ts';

const base64 = (text: string | Buffer): string => Buffer.from(text).toString('base64');

it('secrets are decoded as they are stored, and what is missing or unreadable may be mended', async () => {
  await using api = await makeApi();
  const secrets = createSecrets(api.store);
  const metadata = { name: 'git', namespace: 'shop' };
  const created = await api.store.create({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata,
    data: { token: base64('gr\u00fc\u00df Gott\n'), empty: '', bytes: base64(Buffer.from([0xff, 0xfe, 0x80])) },
  });
  assert.ok(created.ok);
  const read = async (name: string, key: string) => {
    const outcome = await secrets.read({ namespace: 'shop', name }, key);
    return outcome.outcome === 'done' ? outcome.value : `${outcome.outcome} ${outcome.reason.code}`;
  };
  assert.equal(await read('git', 'token'), 'gr\u00fc\u00df Gott\n');
  assert.equal(await read('git', 'empty'), '');
  assert.equal(await read('git', 'bytes'), 'transient SecretInvalid');
  assert.equal(await read('git', 'toString'), 'transient SecretMissing');
  assert.equal(await read('none', 'token'), 'transient SecretMissing');
  const changed = await api.store.update({ ...created.object, data: { token: base64('new') } });
  assert.ok(changed.ok);
  assert.equal(await read('git', 'token'), 'new');
  await api.store.close();
  assert.equal(await read('git', 'token'), 'transient SecretUnreadable');
});

it('no message holds a value', async () => {
  await using api = await makeApi();
  const value = Buffer.concat([Buffer.from('hush-hush'), Buffer.from([0xff])]).toString('base64');
  await api.store.create({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'git', namespace: 'shop' }, data: { token: value } });
  const outcome = await createSecrets(api.store).read({ namespace: 'shop', name: 'git' }, 'token');
  assert.ok(outcome.outcome === 'transient');
  assert.ok(!outcome.reason.message.includes('hush') && !outcome.reason.message.includes(value));
});
