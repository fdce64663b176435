/**
 * Edits, compiled once a run: the same edit is worked out for the preview, the commit and each base of the push, mostly on the same texts. The last
 * result is kept with the texts it came from.
 */
import type { EditResult, FileEdit } from '../../api/file-edit.ts';
import { compileEdit } from '../../core/edit/compile-edit.ts';
import type { EditSpec } from '../../core/effect.ts';

/** How many edits are kept; an edit that was dropped is compiled again. */
const KEPT = 500;

const sameTexts = (a: ReadonlyMap<string, string>, b: ReadonlyMap<string, string>): boolean =>
  a.size === b.size && [...a].every(([path, text]) => b.get(path) === text);

const remembering = (edit: FileEdit): FileEdit => {
  let last: { readonly files: ReadonlyMap<string, string>; readonly result: EditResult } | undefined;
  return {
    reads: edit.reads,
    apply: (files) => {
      if (last === undefined || !sameTexts(last.files, files)) last = { files: new Map(files), result: edit.apply(files) };
      return last.result;
    },
  };
};

/** Makes the place where edits are kept; `run` names what the edit belongs to. */
export const createEdits = (): ((run: string, spec: EditSpec) => FileEdit) => {
  const edits = new Map<string, FileEdit>();
  return (run, spec) => {
    const key = `${run} ${JSON.stringify(spec)}`;
    const edit = edits.get(key) ?? remembering(compileEdit(spec));
    edits.delete(key);
    edits.set(key, edit);
    for (const [oldest] of edits) {
      if (edits.size <= KEPT) break;
      edits.delete(oldest);
    }
    return edit;
  };
};
