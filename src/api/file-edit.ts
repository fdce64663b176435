/** Pure edits of a tree: how decisions hand a change of files to whatever stores trees. */

/** A refused edit, located. */
export interface EditRefusal {
  /** CamelCase, such as `KustomizationMissing`. */
  readonly code: string;
  readonly message: string;
  readonly file: string;
  /** From 1. */
  readonly line?: number;
}

/** The end of an edit: contents by path, of changed files only; empty when the files already say what is wanted. */
export type EditResult =
  | { readonly ok: true; readonly writes: ReadonlyMap<string, string> }
  | { readonly ok: false; readonly refusal: EditRefusal };

/** A pure edit of a tree. It is applied again to every new base, so it may depend on nothing but its arguments. */
export interface FileEdit {
  /** Paths it wants to see; those absent from the tree are absent from the map. */
  readonly reads: readonly string[];
  /** Contents are UTF-8 text, byte order marks and line endings kept. */
  readonly apply: (files: ReadonlyMap<string, string>) => EditResult;
}
