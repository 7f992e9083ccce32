import { StoreError } from "../store-error.ts";
import type { ResponseHeader } from "./generated/rpc.ts";

/** Tracks etcd's revision, and detects a replaced etcd. */
export class RevisionTracker {
  /** Newest revision that etcd has reported. */
  revision = 0;
  /** Number of replacements. */
  replaced = 0;
  /** Called after a replacement: all reads and watches of the former etcd are void. */
  onreplaced: ((error: StoreError) => void) | undefined;
  readonly #name: string;
  #cluster: string | undefined;

  /** @param name of the store, for messages */
  constructor(name: string) {
    this.#name = name;
  }

  /**
   * Starts a request and returns a function that takes the header of its response. Reads and transactions follow everything
   * that any member had reported when they were sent. An older revision therefore comes from an etcd with another history: an
   * empty one, or one from a backup.
   */
  asking(): (header: ResponseHeader | undefined) => void {
    const { revision, replaced } = this;
    return (header) => {
      if (this.replaced !== replaced || header === undefined) return;
      if (header.revision < revision) this.#begin(header);
      else this.observe(header);
    };
  }

  /** Records a header of one member, which may lag behind others. */
  observe(header: ResponseHeader): void {
    const cluster = this.#clusterOf(header);
    if (this.#cluster !== undefined && cluster !== this.#cluster) this.#begin(header);
    this.#cluster = cluster;
    this.revision = Math.max(this.revision, header.revision);
  }

  /** Returns the error that ends everything based on the former history. */
  error(): StoreError {
    return new StoreError("Compacted", `${this.#name} was replaced or restored and has another history: read again`);
  }

  #begin(header: ResponseHeader): void {
    this.replaced++;
    this.revision = header.revision;
    this.#cluster = this.#clusterOf(header);
    this.onreplaced?.(this.error());
  }

  /** A proxy may omit it. */
  #clusterOf({ clusterId }: ResponseHeader): string | undefined {
    return clusterId === "0" ? this.#cluster : clusterId;
  }
}
