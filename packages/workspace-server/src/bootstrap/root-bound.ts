import { type APIBinding, isConditionFalse, ROOT_CLUSTER } from "@virtual-workspaces/kcp";
import { UP_TO_DATE } from "../bindings/binding/draft.ts";
import { placeOf } from "./put.ts";
import type { ShardState } from "../state/shard-state.ts";
import { systemExports } from "./system-exports.ts";

/**
 * Resolves when `root`, which must be on the shard, has been bound what it is to have: who asks for workspaces then is not told that
 * there is no such thing. A binding that somebody has spoilt keeps nobody from starting.
 *
 * @throws what the signal is aborted with
 */
export async function rootBound({ apiBindings }: Pick<ShardState, "apiBindings">, signal: AbortSignal): Promise<void> {
  const isDone = (): boolean =>
    systemExports.every(({ name }) => isSettled(apiBindings.store.get(placeOf(ROOT_CLUSTER, name))));
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const check = (): void => (isDone() ? resolve() : undefined);
  const abort = (): void => reject(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  using _following = apiBindings.on({ added: check, updated: check, deleted: check });
  check();
  try {
    await promise;
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

/** Bound, or in a state that only somebody else can get it out of. */
function isSettled(binding: APIBinding | undefined): boolean {
  if (binding === undefined) return false;
  const { metadata, status } = binding;
  return (
    status?.phase === "Bound" ||
    metadata.deletionTimestamp !== undefined ||
    isConditionFalse(status?.conditions, UP_TO_DATE)
  );
}
