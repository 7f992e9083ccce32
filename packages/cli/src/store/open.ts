import { etcdStore, isStoreError, lmdbStore, memoryStore, type Store } from "@virtual-workspaces/store";
import { Failure } from "../usage.ts";
import { DEFAULT_PREFIX, type StoreChoice } from "./options.ts";

/** How long a process that was killed may still have the folder, ms. */
const WAIT = 3000;

/** Opens the store that the flags name. @throws Failure naming what is wrong with it and the remedy */
export async function openStore(choice: StoreChoice): Promise<Store> {
  return plainly(async () => {
    if (choice.engine === "memory") return memoryStore();
    if (choice.engine === "lmdb") return lmdbStore({ dir: choice.dir, wait: WAIT });
    const { engine: _, ...etcd } = choice;
    return etcdStore({ prefix: DEFAULT_PREFIX, ...etcd });
  });
}

/** What a store throws says all that there is to say: no stack. */
export async function plainly<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (isStoreError(error)) throw new Failure(error.message);
    throw error;
  }
}
