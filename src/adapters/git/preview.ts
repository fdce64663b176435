/** What an edit would change at a commit, without writing anything. */
import type { FileEdit } from '../../api/file-edit.ts';
import type { Outcome } from '../../api/outcome.ts';
import { done, transient } from '../../api/outcome.ts';
import type { FileChange } from '../../ports/git.ts';
import type { ChainSettings } from './push-chain.ts';
import { editAt } from './push-chain.ts';
import type { Session } from './session.ts';

/** The changed files, by path. */
export async function preview(
  session: Session,
  settings: ChainSettings,
  wanted: { readonly base: string; readonly edit: FileEdit },
): Promise<Outcome<readonly FileChange[]>> {
  const reached = await session.reach(wanted.base);
  if (reached.outcome !== 'done') return reached;
  const edited = await editWithFiles(session, settings, wanted);
  if (edited.outcome !== 'done') return edited;
  const { writes, texts } = edited.value;
  const unread = [...writes.keys()].filter((path) => !texts.has(path));
  const others = await editWithFiles(session, settings, {
    base: wanted.base,
    edit: { reads: unread, apply: () => ({ ok: true, writes: new Map() }) },
  });
  if (others.outcome !== 'done') return others;
  const changes: FileChange[] = [];
  for (const [path, after] of writes) {
    const before = texts.get(path) ?? others.value.texts.get(path);
    if (before !== after) changes.push({ path, after, ...(before === undefined ? {} : { before }) });
  }
  return done(changes.sort((a, b) => (a.path < b.path ? -1 : 1)));
}

/** Runs the edit, bringing the files that the mirror lacks. */
async function editWithFiles(
  session: Session,
  settings: ChainSettings,
  wanted: { readonly base: string; readonly edit: FileEdit },
): Promise<Outcome<{ readonly texts: ReadonlyMap<string, string>; readonly writes: ReadonlyMap<string, string> }>> {
  const first = await editAt(settings, wanted.base, wanted);
  if (first.outcome !== 'done') return first;
  if (first.value.state === 'edited') return done(first.value);
  const brought = await session.bringObjects(first.value.oids);
  if (brought.outcome !== 'done') return brought;
  const second = await editAt(settings, wanted.base, wanted);
  if (second.outcome !== 'done') return second;
  return second.value.state === 'edited' ? done(second.value) : transient('GitMirrorCorrupt', 'fetched files are not in the mirror');
}
