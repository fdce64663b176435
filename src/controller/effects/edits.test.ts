import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EditSpec } from '../../core/effect.ts';
import { createEdits } from './edits.ts';

const spec = (tag: string, path = 'test'): EditSpec => ({ edit: 'overlay', path, images: [{ repository: 'a/web', tag }] });
const files = (tag: string) => new Map([['test/kustomization.yaml', `images:\n- name: a/web\n  newTag: "${tag}"\n`]]);

test('the same edit of the same step on the same texts is worked out once', () => {
  const edits = createEdits();
  const first = edits('default/b.test', spec('2')).apply(files('1'));
  assert.ok(first.ok && first.writes.size === 1);
  assert.equal(edits('default/b.test', spec('2')).apply(files('1')), first, 'the very same result');
});

test('other texts, another edit or another step are worked out anew', () => {
  const edits = createEdits();
  const first = edits('default/b.test', spec('2')).apply(files('1'));
  const after = edits('default/b.test', spec('2')).apply(files('2'));
  assert.ok(after.ok && after.writes.size === 0, 'it says so already');
  assert.deepEqual(edits('default/b.test', spec('2')).apply(files('1')), first, 'and back');
  const other = edits('default/b.test', spec('3')).apply(files('1'));
  assert.match(other.ok ? (other.writes.get('test/kustomization.yaml') ?? '') : '', /newTag: "3"/);
  const elsewhere = edits('default/b.prod', spec('2', 'prod')).apply(new Map());
  assert.equal(elsewhere.ok, false);
});

test('a file that appears is other texts', () => {
  const edit = createEdits()('default/b.test', spec('2'));
  assert.equal(edit.apply(new Map()).ok, false);
  assert.equal(edit.apply(files('1')).ok, true);
});

test('what a caller does to its texts afterwards does not reach what was remembered', () => {
  const edits = createEdits();
  const texts = files('1');
  const edit = edits('default/b.test', spec('2'));
  const first = edit.apply(texts);
  texts.set('test/kustomization.yaml', files('9').get('test/kustomization.yaml') ?? '');
  texts.set('another', '');
  assert.notEqual(edit.apply(texts), first);
  assert.deepEqual(edit.apply(files('1')), first);
});

test('only the latest five hundred edits are kept, and one that was dropped still gives the same', () => {
  const edits = createEdits();
  const kept = edits('step-0', spec('2'));
  for (let index = 1; index < 500; index += 1) edits(`step-${index}`, spec('2'));
  assert.equal(edits('step-0', spec('2')), kept, 'used again, it is the latest');
  edits('step-500', spec('2'));
  assert.equal(edits('step-0', spec('2')), kept);
  for (let index = 501; index < 1001; index += 1) edits(`step-${index}`, spec('2'));
  const again = edits('step-0', spec('2'));
  assert.notEqual(again, kept);
  assert.deepEqual(again.apply(files('1')), kept.apply(files('1')));
});
