/** Builds the commits of a group on top of a branch's tip: base → first → second → …, each run its own commit. */
import type { FileEdit } from '../../api/file-edit.ts';
import type { Outcome } from '../../api/outcome.ts';
import { done } from '../../api/outcome.ts';
import type { CommitPlan } from '../../ports/git.ts';
import type { ObjectStore } from './object-store.ts';
import type { NewObject } from './objects.ts';
import { encodeCommit, makeObject } from './objects.ts';
import { applyEdit, readTexts, selectFiles, writeFiles } from './tree-edit.ts';

/** What commits are made with. */
export interface ChainSettings {
  readonly store: ObjectStore;
  /** `Name <address>`. */
  readonly identity: string;
  readonly fileBytes: number;
  /** Results of edits on files that have not changed since: a run is edited once to look and once more to commit. */
  readonly memo?: WeakMap<FileEdit, RememberedEdit>;
}

/** An edit's result, with the files on which it was run. */
export interface RememberedEdit {
  readonly files: string;
  readonly texts: ReadonlyMap<string, string>;
  readonly writes: ReadonlyMap<string, string>;
}

/** A commit that has been made in memory; nothing has been written yet. */
export interface MadeCommit {
  readonly commit: string;
  readonly base: string;
  readonly changed: boolean;
  readonly objects: readonly NewObject[];
}

/** The edit on one commit. Files that the mirror lacks are reported and nothing else is said. */
export type EditOnCommit =
  | { readonly state: 'missing'; readonly oids: readonly string[] }
  | {
      readonly state: 'edited';
      readonly tree: string;
      /** Seconds. */
      readonly time: number;
      readonly texts: ReadonlyMap<string, string>;
      readonly writes: ReadonlyMap<string, string>;
    };

/** Reads the wanted files at a commit and runs the edit on them. */
export async function editAt(settings: ChainSettings, commit: string, plan: Pick<CommitPlan, 'edit'>): Promise<Outcome<EditOnCommit>> {
  const { store, fileBytes } = settings;
  const info = await store.commit(commit);
  if (info.outcome !== 'done') return info;
  const { tree, time } = info.value;
  const selection = await selectFiles(store, tree, plan.edit.reads);
  if (selection.outcome !== 'done') return selection;
  const files = JSON.stringify([...selection.value].map(([path, entry]) => [path, entry.oid]));
  const known = settings.memo?.get(plan.edit);
  if (known?.files === files) return done({ state: 'edited', tree, time, texts: known.texts, writes: known.writes });
  const read = await readTexts(store, selection.value, fileBytes);
  if (read.outcome !== 'done') return read;
  if (read.value.missing.length > 0) return done({ state: 'missing', oids: read.value.missing });
  const writes = applyEdit(plan.edit, read.value.texts);
  if (writes.outcome !== 'done') return writes;
  settings.memo?.set(plan.edit, { files, texts: read.value.texts, writes: writes.value });
  return done({ state: 'edited', tree, time, texts: read.value.texts, writes: writes.value });
}

/** Makes the commit of a plan on a base; a pure function of the two. */
export async function makeCommit(
  settings: ChainSettings,
  base: string,
  plan: CommitPlan,
): Promise<Outcome<MadeCommit | { readonly missing: readonly string[] }>> {
  const edited = await editAt(settings, base, plan);
  if (edited.outcome !== 'done') return edited;
  if (edited.value.state === 'missing') return done({ missing: edited.value.oids });
  const { tree, time, writes } = edited.value;
  const unchanged: MadeCommit = { commit: base, base, changed: false, objects: [] };
  if (writes.size === 0) return done(unchanged);
  const written = await writeFiles(settings.store, tree, writes);
  if (written.outcome !== 'done') return written;
  if (written.value.tree === tree) return done(unchanged);
  const authored = Math.floor(plan.time / 1000);
  const body = encodeCommit({
    tree: written.value.tree,
    parent: base,
    identity: settings.identity,
    authored,
    committed: Math.max(authored, time),
    message: plan.message,
  });
  const commit = makeObject('commit', body, base.length);
  return done({ commit: commit.oid, base, changed: true, objects: [...written.value.objects, commit] });
}
