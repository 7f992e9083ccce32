/** What became of questions that another server decides. Counts are since the beginning. */
export interface ReviewStats {
  /** Reviews that were begun, however often each had to be sent. */
  readonly asked: number;
  /** Questions that were answered from memory. */
  readonly remembered: number;
  /** Questions that waited for a review that was under way already. */
  readonly shared: number;
  /** Reviews that came to nothing. */
  readonly failed: number;
  /** How often a review was sent again. */
  readonly retried: number;
  /** How long all reviews together took, ms. */
  readonly duration: number;
  /** Reviews that the other server has now. */
  readonly inFlight: number;
  /** Reviews that wait for their turn now. */
  readonly waiting: number;
  /** Verdicts that are kept now. */
  readonly kept: number;
}
