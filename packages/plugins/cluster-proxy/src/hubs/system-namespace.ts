import type { KindReference, ObjectOf } from "@virtual-workspaces/apimachinery";
import { type Client, orElse, type ResourceClient } from "@virtual-workspaces/client";
import { IDENTITY_SECRET_NAMESPACE } from "@virtual-workspaces/kcp";

const NAMESPACE: KindReference = {
  group: "",
  version: "v1",
  kind: "Namespace",
  plural: "namespaces",
  scope: "Cluster",
};

/** Makes an object in `kcp-system` of `root`, and the namespace where that is not there. @throws ApiError 409 when the object is there already */
export async function createInSystem<T extends object>(
  root: Client,
  kind: KindReference<T>,
  object: Parameters<ResourceClient<T>["create"]>[0],
): Promise<ObjectOf<T>> {
  const namespace = { metadata: { name: IDENTITY_SECRET_NAMESPACE } };
  await root
    .resource(NAMESPACE)
    .create(namespace)
    .catch(orElse<unknown>(409, () => undefined));
  return root.resource(kind).in(IDENTITY_SECRET_NAMESPACE).create(object);
}
