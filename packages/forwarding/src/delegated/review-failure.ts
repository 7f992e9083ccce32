/** A review that came to nothing. The message names the server and the path, and holds nothing of the question or answer. */
export class ReviewFailure extends Error {
  override readonly name: string = "ReviewFailure";
  /** Whether asking again may help: the server was not there, or not able to. */
  readonly transient: boolean;

  constructor(message: string, options: ErrorOptions & { readonly transient: boolean }) {
    super(message, options);
    this.transient = options.transient;
  }
}
