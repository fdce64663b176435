import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isBranchName, parseRepositoryUrl } from './repository-url.ts';

const address = (url: string): string => {
  const parsed = parseRepositoryUrl(url, true);
  return parsed.outcome === 'done' ? parsed.value.address : `${parsed.outcome} ${parsed.reason.code}`;
};

test('https, http, ssh, scp-like and file addresses are accepted', () => {
  assert.equal(address('https://host.example/a/b.git'), 'https://host.example/a/b.git');
  assert.equal(address('http://127.0.0.1:8080/a.git/'), 'http://127.0.0.1:8080/a.git');
  assert.equal(address('ssh://git@host.example:2222/a/b.git'), 'ssh://git@host.example:2222/a/b.git');
  assert.equal(address('git@host.example:a/b.git'), 'git@host.example:a/b.git');
  assert.equal(address('file:///srv/a%20b.git'), 'file:///srv/a b.git');
});

test('helper transports, options, unknown schemes and nonsense are refused', () => {
  const refused = [
    '',
    'ext::sh -c touch% /tmp/x',
    'fd::17',
    'git://host/a',
    'ftp://host/a',
    '-oProxyCommand=x:a',
    '--upload-pack=x',
    'ssh://-oProxyCommand=x/a',
    'ssh://host/-a',
    'git@-host:a',
    '/srv/a.git',
    '../a',
    'https://',
    'https://host',
    'https://host/a\nb',
    'https://host/a?token=x',
    'http://host/a#x',
    'file://host/a',
    'host:-a',
  ];
  for (const url of refused) assert.equal(address(url), 'terminal GitURLRefused', url);
});

test('file URLs are refused where they are not allowed', () => {
  assert.equal(parseRepositoryUrl('file:///srv/a.git', false).outcome, 'terminal');
});

test('user information of an http address is taken out of it and kept apart', () => {
  const parsed = parseRepositoryUrl('https://me:p%40ss@host.example/a.git', true);
  assert.equal(parsed.outcome, 'done');
  if (parsed.outcome !== 'done') return;
  assert.equal(parsed.value.address, 'https://host.example/a.git');
  assert.deepEqual(parsed.value.user, { name: 'me', password: 'p@ss' });
  const plain = parseRepositoryUrl('https://host.example/a.git', true);
  assert.equal(plain.outcome === 'done' && plain.value.key, parsed.value.key);
});

test('a refusal never repeats a password', () => {
  const parsed = parseRepositoryUrl('ftp://me:secret@host/a', true);
  assert.equal(parsed.outcome === 'terminal' && parsed.reason.message.includes('secret'), false);
});

test('names that git refuses for branches are known', () => {
  for (const good of ['main', 'env/prod', 'a%b', 'ü', 'release-1.2']) assert.equal(isBranchName(good), true, good);
  const bad = [
    '',
    '@',
    '-x',
    '/a',
    'a/',
    'a..b',
    'a b',
    'a~1',
    'a^',
    'a:b',
    'a?',
    'a*',
    'a[',
    'a\\b',
    'a@{b',
    'a//b',
    '.a',
    'a/.b',
    'a.lock',
    'a.lock/b',
    'a.',
    'a\u0001',
  ];
  for (const name of bad) assert.equal(isBranchName(name), false, name);
});
