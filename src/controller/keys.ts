/** Keys of the work queue: one resource of one of the kinds that have a decision. */

/** The kinds that are reconciled. */
export const RECONCILED = ['Bundle', 'Pipeline', 'Graph', 'PromotionStep'] as const;
export type Reconciled = (typeof RECONCILED)[number];

/** One resource to look at. */
export interface Key {
  readonly kind: Reconciled;
  readonly namespace: string;
  readonly name: string;
}

/** Text of a key, unique. */
export const keyText = (key: Key): string => `${key.kind}/${key.namespace}/${key.name}`;
