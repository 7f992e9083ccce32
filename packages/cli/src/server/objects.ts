import { type KubeObject, type ObjectOf, parseApiVersion } from "@virtual-workspaces/apimachinery";
import { Client, type ResourceClient } from "@virtual-workspaces/client";
import { ROOT_CLUSTER } from "@virtual-workspaces/kcp";
import type { Loopback } from "@virtual-workspaces/workspace-server";

/** How long anything may take that is made at the start, ms. */
const WITHIN = 30_000;

/** What is found in an object, as soon as it is there. @throws ApiError, TransportError, DOMException when it takes too long */
export async function waitForObject<T extends object, Found>(
  objects: ResourceClient<T>,
  name: string,
  found: (object: ObjectOf<T>) => Found | undefined,
): Promise<Found> {
  const signal = AbortSignal.timeout(WITHIN);
  for await (const event of objects.watch({ fields: `metadata.name=${name}`, signal })) {
    const answer = event.type === "BOOKMARK" ? undefined : found(event.object);
    if (answer !== undefined) return answer;
  }
  throw new Error(`${objects.kind.plural} ${name}: the server ended the watch`);
}

/** Whoever has logged in. */
export const AUTHENTICATED = {
  apiGroup: "rbac.authorization.k8s.io",
  kind: "Group",
  name: "system:authenticated",
} as const;

/** Writes what a view needs into `root`, at each start, as all that `root` has from the start. @throws Error on kinds that `root` has not */
export async function applyInRoot({ upstream }: Loopback, manifests: readonly KubeObject[]): Promise<void> {
  await using root = new Client({ upstream, cluster: ROOT_CLUSTER });
  const served = root.discovery();
  for (const object of manifests) {
    const { apiVersion, kind } = object;
    const found = await served.find({ ...parseApiVersion(apiVersion), kind });
    if (found === undefined) throw new Error(`root does not serve ${kind} of ${apiVersion}, which has to be there`);
    await root.resource(found).apply(object, { force: true });
  }
}
