import { setTimeout as pause } from "node:timers/promises";
import type { Client } from "@virtual-workspaces/client";
import { TENANCY_GROUP } from "../well-known/api-groups.ts";
import { ROOT_CLUSTER } from "../well-known/names.ts";
import { APIExportV1alpha1 } from "./kinds/api-export.ts";

/** Between two attempts, at first and at most, ms. */
const WAITS = [250, 15_000] as const;

/**
 * By which identity Workspaces are asked for in all logical clusters at once: that of the APIExport `tenancy.kcp.io` in `root`. Tried
 * until it is known: a server that starts may not have it yet.
 *
 * @throws what `signal` aborts with
 */
export async function tenancyIdentity(
  everywhere: Client,
  { signal, onError }: { readonly signal: AbortSignal; readonly onError: (error: unknown) => void },
): Promise<string> {
  const exports = everywhere.cluster(ROOT_CLUSTER).resource(APIExportV1alpha1);
  const [first, most] = WAITS;
  for (let wait: number = first; ; wait = Math.min(2 * wait, most)) {
    try {
      const { status } = await exports.get(TENANCY_GROUP, { signal });
      if (status?.identityHash) return status.identityHash;
      throw new Error(`the APIExport ${TENANCY_GROUP} in ${ROOT_CLUSTER} has no status.identityHash yet`);
    } catch (error) {
      signal.throwIfAborted();
      onError(error);
    }
    await pause(wait, undefined, { signal });
  }
}
