import { isApiError } from "@virtual-workspaces/apimachinery";
import type { AdmitRequest } from "@virtual-workspaces/framework";
import { LogicalCluster, WorkspaceType } from "@virtual-workspaces/kcp";
import type { Installation } from "../../state/shard-registry.ts";

/**
 * Does something that is refused where it finds nothing, once more if it is, with all that was written before: what is
 * followed may be a moment behind. In kcp, whoever uses a type that was just made has to try again by themselves.
 */
export async function freshly<R>(
  installation: Installation,
  request: AdmitRequest,
  attempt: () => R | Promise<R>,
): Promise<R> {
  try {
    return await attempt();
  } catch (error) {
    if (!isApiError(error) || error.code !== 403) throw error;
    await catchUp(installation, request.signal);
    return attempt();
  }
}

async function catchUp({ shards }: Installation, signal: AbortSignal): Promise<void> {
  await Promise.all(
    shards.flatMap(({ objects }) =>
      // Logical clusters that are read as they are asked for are no older than the request.
      [...(objects.isWhole ? [objects.of(LogicalCluster)] : []), objects.of(WorkspaceType)].map(async (collection) => {
        using lease = await collection.cache();
        await lease.confirm?.({ signal });
      }),
    ),
  );
}
