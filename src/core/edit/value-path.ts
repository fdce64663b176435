/**
 * Paths into a values file: keys with dots in between. A key that holds a dot is quoted (`"a.b"`, `'a.b'`) or its dot is escaped (`a\.b`);
 * `[0]` is an item of a list, from 0.
 */

/** A key of a map, or the index of a list. */
export type PathSegment = string | number;

/** The segments, or a sentence that says what is wrong. */
export type PathParse =
  | { readonly ok: true; readonly segments: readonly [PathSegment, ...PathSegment[]] }
  | { readonly ok: false; readonly message: string };

// One segment, at the start of what is left: an index, a quoted key, or a bare key.
const SEGMENT = /\[([0-9]{1,6})\]|"((?:[^"\\]|\\.)*)"|'((?:[^']|'')*)'|((?:[^.[\]"'\\\s]|\\.)(?:[^.[\]\\]|\\.)*)/y;

const unescaped = (text: string): string => text.replace(/\\(.)/gs, '$1');

const segmentOf = (match: RegExpExecArray): PathSegment => {
  const [, index, double, single, bare] = match;
  if (index !== undefined) return Number(index);
  return single === undefined ? unescaped(double ?? bare ?? '') : single.replaceAll("''", "'");
};

const wrong = (path: string, at: number): PathParse => ({
  ok: false,
  message: `the values path ${JSON.stringify(path.slice(0, 200))} is not understood at character ${at + 1}; accepted are keys separated by dots ("image.tag"), quoted or escaped where a key holds a dot ("a\\.b", '"a.b".tag'), and list indices ("[0]")`,
});

/** Parses a path. */
export const parseValuePath = (path: string): PathParse => {
  const segments: PathSegment[] = [];
  const pattern = new RegExp(SEGMENT);
  let at = 0;
  for (;;) {
    pattern.lastIndex = at;
    const match = pattern.exec(path);
    if (!match) return wrong(path, at);
    segments.push(segmentOf(match));
    at = pattern.lastIndex;
    if (at === path.length) break;
    if (path[at] === '.') at += 1;
    else if (path[at] !== '[') return wrong(path, at);
  }
  const [first, ...others] = segments;
  return first === undefined ? wrong(path, 0) : { ok: true, segments: [first, ...others] };
};

/** A path as people write it. */
export const formatValuePath = (segments: readonly PathSegment[]): string =>
  segments
    .map((segment, index) => {
      if (typeof segment === 'number') return `[${segment}]`;
      const key = /^[^.[\]"'\\\s]+$/.test(segment) ? segment : JSON.stringify(segment);
      return index === 0 ? key : `.${key}`;
    })
    .join('');
