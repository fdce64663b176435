/** One field that was refused, and why. */
export interface FieldCause {
  /** Path such as `spec.environments[0].name`; empty for the object itself. */
  readonly field: string;
  /** What was given and what is accepted. */
  readonly message: string;
}
