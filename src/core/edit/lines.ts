/** Lines of a text by offset. */

/** The offset of the first character of the line; a byte order mark does not belong to the first line. */
export const lineStart = (text: string, offset: number): number => {
  const start = text.lastIndexOf('\n', offset - 1) + 1;
  return start === 0 && offset > 0 && text.charCodeAt(0) === 0xfeff ? 1 : start;
};

/** The offset of the line ending (`\r\n` or `\n`) at or behind an offset, or of the end of the text. */
export const lineEnd = (text: string, offset: number): number => {
  const newline = text.indexOf('\n', offset);
  if (newline < 0) return text.length;
  return newline > offset && text[newline - 1] === '\r' ? newline - 1 : newline;
};

/** The offset behind the line ending. */
export const nextLine = (text: string, offset: number): number => {
  const newline = text.indexOf('\n', offset);
  return newline < 0 ? text.length : newline + 1;
};

/** The line ending used at an offset, else in the first line, else `\n`. */
export const lineEnding = (text: string, offset: number): string => {
  for (const at of [text.indexOf('\n', offset), text.indexOf('\n')]) {
    if (at >= 0) return text[at - 1] === '\r' ? '\r\n' : '\n';
  }
  return '\n';
};
