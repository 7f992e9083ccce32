import type { Store } from "../store.ts";
import type { EtcdOptions } from "./options.ts";

/**
 * A store in etcd, 3.4 or newer, for many processes and machines. Resolves when etcd has answered.
 *
 * A call goes to another member while that is safe, for 10 s at most, and then is `Unavailable`; a transaction whose answer
 * was lost is `Unknown`, and is not tried again. A watch survives the loss of a member, and goes on where it was. etcd
 * takes 1.5 MiB in a transaction unless it is told otherwise (`--max-request-bytes`).
 *
 * A member of etcd before 3.4.25 or 3.5.8 is not believed when it says how far it is: there, progress costs two reads of
 * the range, and a quiet watch that loses its connection after a compaction may be told `Compacted`. Before 3.4.34 and
 * 3.5.15 etcd can leave a deletion out of a watch that lags when exactly its revision is compacted.
 *
 * @throws StoreError `Invalid` for options that make no sense, `Unavailable` when no member answers, `Denied`
 */
export async function etcdStore(options: EtcdOptions): Promise<Store> {
  // Whoever keeps objects elsewhere need not wait for gRPC to load.
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
