import { apiVersionOf } from "@virtual-workspaces/apimachinery";
import type { WorkspaceMount } from "@virtual-workspaces/kcp";
import { Failure, UsageError } from "../usage.ts";
import type { Session } from "./session.ts";

/**
 * The object that `kind/name` means, in a workspace: the kind as `kubectl get` takes it.
 *
 * @throws UsageError on what is not of that form, Failure when there is no such kind, ApiError when there is no such object
 */
export async function mountNamed(session: Session, path: string, text: string): Promise<WorkspaceMount> {
  const [, resource, name] = /^([^/]+)\/([^/]+)$/.exec(text) ?? [];
  if (resource === undefined || name === undefined)
    throw new UsageError(`--mount ${text}: give kind/name, such as mount/cluster or remoteclusters.example.dev/one`);
  const client = session.client(path);
  const kind = await client.discovery().findResource(resource, session.patience);
  if (kind === undefined)
    throw new Failure(`--mount ${text}: the workspace ${path} has no resource ${JSON.stringify(resource)}`);
  const namespace = kind.scope === "Namespaced" ? { namespace: session.namespace } : {};
  // The server would take a name of nothing, and the workspace wait for it.
  const objects = client.resource(kind);
  await (namespace.namespace === undefined ? objects : objects.in(namespace.namespace)).get(name, session.patience);
  return {
    ref: { apiVersion: apiVersionOf(kind), kind: kind.kind, name, ...namespace },
  };
}
