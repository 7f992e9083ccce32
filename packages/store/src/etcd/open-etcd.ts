import type { Store } from "../store.ts";
import type { EtcdOptions } from "./options.ts";

/**
 * Opens a store in etcd, version 3.4 or newer, for any number of processes and machines. Resolves when etcd has answered.
 *
 * A call moves to another member while that is safe, for at most 10 s, then fails with `Unavailable`. A transaction whose
 * response was lost fails with `Unknown` and is not retried. Watches survive the loss of a member. By default
 * etcd limits a transaction to 1.5 MiB (`--max-request-bytes`).
 *
 * Progress notifications of etcd before 3.4.25 or 3.5.8 are unreliable: there, progress costs two reads of the range, and a
 * quiet watch that loses its connection after a compaction may end with `Compacted`. Releases of etcd before 3.4.34 and 3.5.15 may omit a
 * deletion from a watch that lags if exactly its revision is compacted.
 *
 * @throws StoreError `Invalid` for invalid options, `Unavailable` if no member answers, `Denied`
 */
export async function etcdStore(options: EtcdOptions): Promise<Store> {
  // Loaded on demand: other engines do not need gRPC.
  const { EtcdStore } = await import("./etcd-store.ts");
  const store = new EtcdStore(options);
  try {
    await store.head();
    return store;
  } catch (error) {
    await store[Symbol.asyncDispose]();
    throw error;
  }
}
