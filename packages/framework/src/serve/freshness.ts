import { ApiError } from "@virtual-workspaces/apimachinery";
import type { Exchange } from "../exchange.ts";
import type { CacheLease } from "../storage-changes.ts";
import type { ReadableCache } from "../watch/cache/readable-cache.ts";

/** How long a read waits for a version that has not come yet, ms (Kubernetes' watch cache: 3 s). */
const PATIENCE = 3_000;

/** Said of a version that another server or an earlier run of this one gave: it cannot be compared with ours. */
export const FOREIGN = "too old resource version: it was not given by this server since it started";

/** What is said of a version that nobody remembers. */
export function tooOld(version: string, { head }: Pick<ReadableCache, "head">): ApiError {
  return ApiError.expired(`too old resource version: ${version} (${head})`);
}

/**
 * Waits until the cache is as fresh as `resourceVersion` asks: unset is no staler than the source now, "0" is anything,
 * else at least that version. `undefined` when there is nothing to wait for.
 *
 * @throws ApiError 410 on a version that cannot be compared, 504 on one that does not come
 */
export function freshen(
  exchange: Exchange,
  lease: CacheLease,
  resourceVersion: string | undefined,
): Promise<void> | undefined {
  if (resourceVersion === "0") return undefined;
  if (resourceVersion === undefined) {
    const pending = lease.confirm(exchange);
    return pending instanceof Promise ? pending : undefined;
  }
  if (lease.cache.isForeign(resourceVersion)) throw ApiError.expired(FOREIGN);
  if (lease.cache.reached(resourceVersion)) return undefined;
  // Another server's version, of which it has not told yet, comes with what it is asked for.
  if (lease.past?.waits === true) return confirmed(exchange, lease, resourceVersion);
  return lease.cache.reach(resourceVersion, { signal: exchange.signal, timeout: PATIENCE });
}

async function confirmed(exchange: Exchange, lease: CacheLease, version: string): Promise<void> {
  await lease.confirm(exchange);
  await lease.cache.reach(version, { signal: exchange.signal, timeout: PATIENCE });
}
