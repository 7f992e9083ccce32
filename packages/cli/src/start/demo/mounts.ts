import type { Client } from "@virtual-workspaces/client";
import { APIBinding, Mount, Workspace } from "@virtual-workspaces/kcp";
import { Secret } from "@virtual-workspaces/workspace-server";
import { once } from "../once.ts";
import { CLUSTER, LAB, LINK, MOVED, SHOP } from "./place.ts";

/** What the mounts are called, and what they lead to. */
const MOUNTS = {
  [CLUSTER]: { type: "URL", ref: { apiVersion: "v1", kind: "Secret", namespace: "default", name: CLUSTER } },
  [LINK]: { type: "Workspace", path: SHOP },
  [MOVED]: { type: "Redirect", path: LAB },
} as const;

/**
 * Mounts a cluster, a link to another workspace and a redirect to a third in a workspace, and leaves what is there as it is but for
 * where the cluster is. Resolves once they can be used.
 *
 * @throws ApiError, TransportError
 */
export async function makeMounts(workspace: Client, kubeconfig: string): Promise<void> {
  const reference = { export: { path: "root", name: "proxy.kcp.io" } };
  const bindings = workspace.resource(APIBinding);
  await bindings.apply({ metadata: { name: "mounts" }, spec: { reference } });
  await once(bindings, "mounts", ({ status }) => (status?.phase === "Bound" ? true : undefined));
  const data = { kubeconfig: Buffer.from(kubeconfig).toString("base64") };
  await workspace
    .resource(Secret)
    .in("default")
    .apply({ metadata: { name: CLUSTER }, type: "Opaque", data });
  await Promise.all(
    Object.entries(MOUNTS).map(async ([name, spec]) => {
      await workspace.resource(Mount).apply({ metadata: { name }, spec });
      const ref = { apiVersion: `${Mount.group}/${Mount.version}`, kind: Mount.kind, name };
      const workspaces = workspace.resource(Workspace);
      await workspaces.apply({ metadata: { name }, spec: { mount: { ref } } });
      await once(workspaces, name, ({ status }) => (status?.phase === "Ready" ? true : undefined));
    }),
  );
}
