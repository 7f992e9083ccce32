/** One label, as it is written on an object and as selectors ask for it. */
export interface Label {
  /** With its prefix. */
  readonly key: string;
  /** A hash. */
  readonly value: string;
}
