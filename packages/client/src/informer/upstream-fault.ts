/**
 * A server that answered what it must not: another kind, no version, one from before. Nothing of it reaches the store; it
 * is asked again.
 */
export class UpstreamFault extends Error {
  override readonly name: string = "UpstreamFault";
}

/** A list by watch that did not come to its end. */
export class IncompleteStream extends UpstreamFault {
  override readonly name: string = "IncompleteStream";
}
