import { createHash } from "node:crypto";

/** Who of several answers for what: by rendezvous hashing, so that one who goes moves only what was theirs. */
export class Homes<P extends { readonly name: string }> {
  readonly #peers: readonly P[];
  readonly #known = new Map<string, P | undefined>();

  constructor(peers: readonly P[]) {
    this.#peers = peers;
  }

  /** The same for all who know the same peers. `undefined`: there are none. */
  of(what: string): P | undefined {
    if (!this.#known.has(what)) this.#known.set(what, this.#heaviest(what));
    return this.#known.get(what);
  }

  #heaviest(what: string): P | undefined {
    const weighed = this.#peers.map((peer) => ({ peer, weight: weightOf(what, peer.name) }));
    return weighed.sort((one, other) => (one.weight < other.weight ? 1 : -1))[0]?.peer;
  }
}

function weightOf(what: string, name: string): string {
  return createHash("sha256").update(`${what}\0${name}`).digest("hex");
}
