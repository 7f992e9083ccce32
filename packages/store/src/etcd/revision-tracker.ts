import { StoreError } from "../store-error.ts";
import type { ResponseHeader } from "./generated/rpc.ts";

/** How far etcd is known to be, and whether it is still the one that it was. */
export class RevisionTracker {
  /** The newest revision that etcd has told of. */
  revision = 0;
  /** How often another etcd has taken its place. */
  replaced = 0;
  /** Called then: nothing that was read or watched goes on. */
  onreplaced: ((error: StoreError) => void) | undefined;
  readonly #name: string;
  #cluster: string | undefined;

  /** @param name of the store, for people */
  constructor(name: string) {
    this.#name = name;
  }

  /**
   * To be called before etcd is asked; what it returns takes the header of the answer. Reads and transactions come after
   * all that any member had told of when they were asked, so one that is answered from before that is answered by an etcd
   * with another history: an empty one, or one from a backup.
   */
  asking(): (header: ResponseHeader | undefined) => void {
    const { revision, replaced } = this;
    return (header) => {
      if (this.replaced !== replaced || header === undefined) return;
      if (header.revision < revision) this.#begin(header);
      else this.observe(header);
    };
  }

  /** A member speaks for itself, and may be behind others. */
  observe(header: ResponseHeader): void {
    const cluster = this.#clusterOf(header);
    if (this.#cluster !== undefined && cluster !== this.#cluster) this.#begin(header);
    this.#cluster = cluster;
    this.revision = Math.max(this.revision, header.revision);
  }

  /** What ends everything that rests on the history of the former one. */
  error(): StoreError {
    return new StoreError("Compacted", `${this.#name} was replaced or restored, its history is another: read anew`);
  }

  #begin(header: ResponseHeader): void {
    this.replaced++;
    this.revision = header.revision;
    this.#cluster = this.#clusterOf(header);
    this.onreplaced?.(this.error());
  }

  /** A proxy may leave it out. */
  #clusterOf({ clusterId }: ResponseHeader): string | undefined {
    return clusterId === "0" ? this.#cluster : clusterId;
  }
}
