/** Who we are to the other server. */
export interface Credential {
  /** Flat pairs, name and value in turn: `["Authorization", "Bearer …"]`. What a request says of the same names is left out. */
  readonly headers?: readonly string[];
  /** A client certificate, PEM. When it changes, new connections show the new one, and the old ones end when they are idle. */
  readonly cert?: string;
  /** Its private key, PEM. */
  readonly key?: string;
}

/** Where credentials come from that can change: tokens that end, certificates that are rotated. */
export interface Credentials {
  /**
   * Asked for every request, within its deadline, and by many at once: remember what costs. A throw fails the request with
   * what is thrown.
   */
  get(): Credential | Promise<Credential>;
  /**
   * Told that the other server did not take a credential (401): the next `get` must give another one, if there is any, and
   * the request is then sent once more, whatever it is. Told once, however many requests had the same object; again, when
   * `get` gives what was refused once more, and it is refused once more.
   */
  refused?(credential: Credential): void;
}
