/** Texts that enter a status: whatever they are made of, a status with them can be stored. */

/** Characters that any message of a status may have. */
const LIMIT = 1000;

/** The text, cut where it is longer than a status takes. */
export const sentence = (text: string): string => (text.length <= LIMIT ? text : `${text.slice(0, LIMIT - 1)}…`);
