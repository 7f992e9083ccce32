import {
  checkRestored,
  etcdStore,
  isStoreError,
  lmdbStore,
  memoryStore,
  type Store,
  type StoreErrorCode,
} from "@virtual-workspaces/store";
import { Failure } from "../process/failure.ts";
import type { StoreChoice } from "./store-choice.ts";

/** Time to wait for the folder of a killed process, ms. */
const WAIT = 3000;

/** Opens the store that the flags select. @throws Failure naming the problem and the remedy */
export async function openStore(choice: StoreChoice): Promise<Store> {
  return plainly(async () => {
    await using stack = new AsyncDisposableStack();
    const store = stack.use(await opened(choice));
    await checkRestored(store);
    stack.move();
    return store;
  });
}

async function opened(choice: StoreChoice): Promise<Store> {
  if (choice.engine === "memory") return memoryStore();
  if (choice.engine === "lmdb") return lmdbStore({ dir: choice.dir, wait: WAIT });
  const { engine: _, ...etcd } = choice;
  try {
    return await etcdStore(etcd);
  } catch (error) {
    const remedy = isStoreError(error) ? ETCD_REMEDIES[error.code] : undefined;
    throw remedy === undefined ? error : new Failure(`${(error as Error).message}. ${remedy}`);
  }
}

const ETCD_REMEDIES: Partial<Record<StoreErrorCode, string>> = {
  Unavailable:
    "Check that etcd runs, that --etcd-servers names it, and that its certificate is trusted: --etcd-cafile, --etcd-certfile, --etcd-keyfile",
  Denied:
    "Use a user who may read and write below --etcd-prefix: set --etcd-credentials-file, or ETCD_USERNAME and ETCD_PASSWORD",
};

/** Drops the stacks of a store's errors: their messages are complete. */
export async function plainly<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (isStoreError(error)) throw new Failure(error.message);
    throw error;
  }
}
