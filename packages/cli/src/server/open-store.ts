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

/** How long a process that was killed may still have the folder, ms. */
const WAIT = 3000;

/** Opens the store that the flags name. @throws Failure naming what is wrong with it and the remedy */
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
    "See that etcd runs, that --etcd-servers names it, and that it is trusted: --etcd-cafile, --etcd-certfile, --etcd-keyfile",
  Denied:
    "Name a user who may read and write below --etcd-prefix: --etcd-credentials-file, or ETCD_USERNAME and ETCD_PASSWORD",
};

/** What a store throws says all that there is to say: no stack. */
export async function plainly<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (isStoreError(error)) throw new Failure(error.message);
    throw error;
  }
}
