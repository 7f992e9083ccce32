import { isApiError, parseApiVersion, quote } from "@virtual-workspaces/apimachinery";
import type { AdmitRequest } from "@virtual-workspaces/framework";
import type { WorkspaceMount } from "@virtual-workspaces/kcp";
import type { AskedAccess } from "../../authz/access.ts";
import { type AdmissionContext, refused, writtenCluster } from "./admission-context.ts";

/**
 * Checks that whoever mounts a workspace may read what it is mounted by: that is read with the server's own rights then, and where it
 * leads is shown to all who may read the Workspace. A kind that is not there yet may be that of any object of its group.
 *
 * @throws ApiError 403
 */
export async function checkMount(
  { ref }: WorkspaceMount,
  request: AdmitRequest,
  { shard, isAllowed }: AdmissionContext,
): Promise<void> {
  const cluster = writtenCluster(request);
  const found = shard.kinds.in(cluster).of(ref.apiVersion, ref.kind)?.definition;
  const { group, version } = groupVersionOf(ref.apiVersion, request);
  const resource = found?.plural ?? "*";
  const namespace = found?.scope === "Cluster" ? "" : (ref.namespace ?? "");
  const access: AskedAccess = { verb: "get", group, version, resource, namespace, name: ref.name };
  if (await isAllowed(request.user, cluster, access)) return;
  const named = `${ref.kind} ${quote(`${ref.namespace ?? ""}/${ref.name}`)}`;
  const lacking =
    found === undefined
      ? `there is no such kind yet, and verb='get' is missing on all resources of the group ${quote(group)}`
      : `missing verb='get' permission on ${resource}.${group}`;
  throw refused(request, `unable to mount ${named}: ${lacking}`);
}

function groupVersionOf(apiVersion: string, request: AdmitRequest): ReturnType<typeof parseApiVersion> {
  try {
    return parseApiVersion(apiVersion);
  } catch (error) {
    throw isApiError(error) ? refused(request, `spec.mount.ref.apiVersion: ${error.message}`) : error;
  }
}
