import { type KubeObject, parseApiVersion } from "@virtual-workspaces/apimachinery";
import type { Client } from "@virtual-workspaces/client";
import { type Condition, isConditionTrue } from "@virtual-workspaces/kcp/conditions";
import { CustomResourceDefinition } from "../kinds/custom-resource-definition.ts";

/** Time limit for a kind to become established, in ms. */
const ESTABLISHED_WITHIN = 30_000;

/**
 * Applies objects in a workspace in order, and takes over all their fields. Each CustomResourceDefinition is
 * established before the next object is applied.
 *
 * @throws Error on a kind that the workspace does not serve, and on a CustomResourceDefinition that is not established
 * within 30 s; ApiError, TransportError
 */
export async function applyManifests(workspace: Client, manifests: readonly KubeObject[]): Promise<void> {
  const served = workspace.discovery();
  for (const object of manifests) {
    const { apiVersion, kind } = object;
    const found = await served.find({ ...parseApiVersion(apiVersion), kind });
    if (found === undefined)
      throw new Error(
        `cannot apply ${kind} of ${apiVersion}: workspace ${workspace.clusterName} does not serve it: apply its CustomResourceDefinition first`,
      );
    await workspace.resource(found).apply(object, { force: true });
    if (kind === CustomResourceDefinition.kind) await established(workspace, object.metadata.name ?? "");
  }
}

async function established(workspace: Client, name: string): Promise<void> {
  const kinds = workspace.resource(CustomResourceDefinition);
  const signal = AbortSignal.timeout(ESTABLISHED_WITHIN);
  for await (const event of kinds.watch({ fields: `metadata.name=${name}`, signal }))
    if (event.type !== "BOOKMARK" && isConditionTrue(conditionsOf(event.object), "Established")) return;
  throw new Error(`CustomResourceDefinition "${name}" is not established: the server ended the watch: try again`);
}

function conditionsOf({ status }: KubeObject): readonly Condition[] | undefined {
  return (status as { readonly conditions?: readonly Condition[] } | undefined)?.conditions;
}
