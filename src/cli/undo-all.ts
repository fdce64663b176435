/**
 * Runs what undoes, last first, each after the one before has ended. One that throws keeps no other from running; afterwards the first such error is
 * thrown, or all of them together.
 */
export const undoAll = async (undo: readonly (() => Promise<void>)[]): Promise<void> => {
  const errors: unknown[] = [];
  for (const one of undo.toReversed()) {
    try {
      await one();
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length === 1) throw errors[0];
  if (errors.length > 1) throw new AggregateError(errors, 'ending in order failed');
};
