import type { Log, LogRecord } from "@virtual-workspaces/framework/server";
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

/**
 * Opens the store that the flags select.
 *
 * @param log receives one line when etcd stops answering, and one when it answers again
 * @throws Failure naming the problem and the remedy
 */
export async function openStore(choice: StoreChoice, log?: Log): Promise<Store> {
  return plainly(async () => {
    await using stack = new AsyncDisposableStack();
    const store = stack.use(await opened(choice, log));
    await checkRestored(store);
    stack.move();
    return store;
  });
}

async function opened(choice: StoreChoice, log: Log | undefined): Promise<Store> {
  if (choice.engine === "memory") return memoryStore();
  if (choice.engine === "lmdb") return lmdbStore({ dir: choice.dir, wait: WAIT });
  const { engine: _, ...etcd } = choice;
  try {
    return await etcdStore({ ...etcd, ...(log && { onOutage: (problem) => log(lineOf(problem)) }) });
  } catch (error) {
    const remedy = isStoreError(error) ? ETCD_REMEDIES[error.code] : undefined;
    throw remedy === undefined ? error : new Failure(`${(error as Error).message}. ${remedy}`);
  }
}

function lineOf(problem: Error | undefined): LogRecord {
  return problem === undefined
    ? { level: "info", message: "etcd answers again" }
    : { level: "error", message: "etcd does not answer: requests get 503 until it does", error: problem.message };
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
