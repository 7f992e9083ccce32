import type { KindReference } from "@virtual-workspaces/apimachinery";
import { type Client, orElse } from "@virtual-workspaces/client";

const NAMESPACE = "default";
const NAME = "space-access";
const RBAC = "rbac.authorization.k8s.io";

const ACCOUNT: KindReference = {
  ...{ group: "", version: "v1", kind: "ServiceAccount" },
  ...{ plural: "serviceaccounts", scope: "Namespaced" },
};
const BINDING: KindReference = {
  ...{ group: RBAC, version: "v1", kind: "ClusterRoleBinding" },
  ...{ plural: "clusterrolebindings", scope: "Cluster" },
};

/** A token of the service account that is a space's administrator, which is made with its rights where it is not there. Secret. @throws ApiError */
export async function tokenFor(
  workspace: Client,
  { seconds, signal }: { readonly seconds: number; readonly signal: AbortSignal },
): Promise<string> {
  const accounts = workspace.resource(ACCOUNT).in(NAMESPACE);
  const there = orElse<unknown>(409, () => undefined);
  await accounts.create({ metadata: { name: NAME } }, { signal }).catch(there);
  const binding = {
    metadata: { name: NAME },
    roleRef: { apiGroup: RBAC, kind: "ClusterRole", name: "cluster-admin" },
    subjects: [{ kind: "ServiceAccount", namespace: NAMESPACE, name: NAME }],
  };
  await workspace.resource(BINDING).create(binding, { signal }).catch(there);
  const asked = {
    ...{ apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest" },
    spec: { expirationSeconds: seconds },
  };
  const { status } = (await accounts.subresource("token").create(NAME, asked, { signal })) as TokenRequest;
  if (status?.token) return status.token;
  throw new Error("the workspace has answered a TokenRequest without a token");
}

interface TokenRequest {
  readonly status?: { readonly token?: string };
}
