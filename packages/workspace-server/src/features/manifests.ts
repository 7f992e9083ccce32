import { type KubeObject, parseApiVersion } from "@virtual-workspaces/apimachinery";
import type { Client } from "@virtual-workspaces/client";
import { type Condition, isConditionTrue } from "@virtual-workspaces/kcp/conditions";
import { CustomResourceDefinition } from "../kinds/custom-resource-definition.ts";

/** How long a kind may take until it is served, ms. */
const ESTABLISHED_WITHIN = 30_000;

/**
 * Applies objects in a workspace, one after the other, as their only field manager. A CustomResourceDefinition is established before the next object
 * is applied.
 *
 * @throws Error on a kind that the workspace does not serve, on a CustomResourceDefinition that is not established within 30 s, ApiError, TransportError
 */
export async function applyManifests(workspace: Client, manifests: readonly KubeObject[]): Promise<void> {
  const served = workspace.discovery();
  for (const object of manifests) {
    const { apiVersion, kind } = object;
    const found = await served.find({ ...parseApiVersion(apiVersion), kind });
    if (found === undefined)
      throw new Error(
        `${workspace.clusterName} does not serve ${kind} of ${apiVersion}: apply its CustomResourceDefinition first`,
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
  throw new Error(`the CustomResourceDefinition ${name}: the server ended the watch before it was established`);
}

function conditionsOf({ status }: KubeObject): readonly Condition[] | undefined {
  return (status as { readonly conditions?: readonly Condition[] } | undefined)?.conditions;
}
