import { type KubeObject, parseApiVersion } from "@virtual-workspaces/apimachinery";
import { Client } from "@virtual-workspaces/client";
import { ROOT_CLUSTER } from "@virtual-workspaces/kcp";
import type { Loopback } from "@virtual-workspaces/workspace-server";

/** Whoever has logged in. */
export const EVERYBODY = {
  apiGroup: "rbac.authorization.k8s.io",
  kind: "Group",
  name: "system:authenticated",
} as const;

/** Writes what a view needs into `root`, at each start, as all that `root` has from the start. @throws Error on kinds that `root` has not */
export async function installExport({ upstream }: Loopback, manifests: readonly KubeObject[]): Promise<void> {
  await using root = new Client({ upstream, cluster: ROOT_CLUSTER });
  const served = root.discovery();
  for (const object of manifests) {
    const { apiVersion, kind } = object;
    const found = await served.find({ ...parseApiVersion(apiVersion), kind });
    if (found === undefined) throw new Error(`root does not serve ${kind} of ${apiVersion}, which has to be there`);
    await root.resource(found).apply(object, { force: true });
  }
}
