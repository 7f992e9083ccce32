// Creates workspaces, permissions and custom kinds over HTTP, as a shard's administrator. A workspace is named by logical
// cluster or path.
import { expect } from "chai";
import type { Answer, Calls } from "../../_support/plain.ts";

const root = { user: "root" };
const DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const RBAC = "/apis/rbac.authorization.k8s.io/v1";

/** Creates the workspace `root:<name>` without an owner, and waits until it is ready. @returns its logical cluster */
export async function makeWorkspace(server: Calls, name: string, type = "universal"): Promise<string> {
  const workspaces = "/clusters/root/apis/tenancy.kcp.io/v1alpha1/workspaces";
  const about = { apiVersion: "tenancy.kcp.io/v1alpha1", kind: "Workspace" };
  const spec = { type: { name: type, path: "root" } };
  const made = await server.send(`POST ${workspaces}`, { ...about, metadata: { name }, spec }, root);
  expect(made.status, made.text).to.equal(201);
  await using watch = await server.watch(`${workspaces}?watch=true&fieldSelector=metadata.name=${name}`, root);
  const seen = await watch.until(({ object }) => workspaceOf(object).status?.phase === "Ready");
  return workspaceOf(seen.at(-1)?.object).spec?.cluster ?? "";
}

interface Workspace {
  readonly spec?: { readonly cluster?: string };
  readonly status?: { readonly phase?: string };
}

function workspaceOf(object: object | undefined): Workspace {
  return object ?? {};
}

export async function makeNamespace(server: Calls, cluster: string, name: string): Promise<void> {
  const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name } };
  const made = await server.send(`POST /clusters/${cluster}/api/v1/namespaces`, namespace, root);
  expect(made.status, made.text).to.equal(201);
}

/** Makes a user its administrator, with access and all rights. */
export async function makeAdmin(server: Calls, cluster: string, user: string): Promise<void> {
  const subject = { apiGroup: "rbac.authorization.k8s.io", kind: "User", name: user };
  await bind(server, cluster, { name: "test-admin", role: "cluster-admin", subject });
  await bind(server, cluster, { name: "test-access", role: "system:kcp:workspace:access", subject });
}

interface Bound {
  readonly name: string;
  readonly role: string;
  readonly subject: object;
}

/** Binds a ClusterRole. */
export async function bind(server: Calls, cluster: string, { name, role, subject }: Bound): Promise<void> {
  const made = await server.send(
    `POST /clusters/${cluster}${RBAC}/clusterrolebindings`,
    {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "ClusterRoleBinding",
      metadata: { name },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: role },
      subjects: [subject],
    },
    root,
  );
  expect(made.status, made.text).to.equal(201);
}

/** Grants a user access, and these verbs on everything. */
export async function grant(
  server: Calls,
  cluster: string,
  { user, verbs }: { readonly user: string; readonly verbs: readonly string[] },
): Promise<void> {
  const name = `${user}-may-${verbs.join("-")}`;
  const subject = { apiGroup: "rbac.authorization.k8s.io", kind: "User", name: user };
  const role = { apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole", metadata: { name } };
  const rules = [{ apiGroups: ["*"], resources: ["*"], verbs }];
  const made = await server.send(`POST /clusters/${cluster}${RBAC}/clusterroles`, { ...role, rules }, root);
  expect(made.status, made.text).to.equal(201);
  await bind(server, cluster, { name, role: name, subject });
  await bind(server, cluster, { name: `${name}-access`, role: "system:kcp:workspace:access", subject });
}

/** Defines kinds, and waits until all are established. */
export async function define(server: Calls, cluster: string, crds: readonly object[]): Promise<void> {
  const definitions = `/clusters/${cluster}${DEFINITIONS}` as const;
  const waiting = new Set<string>();
  for (const crd of crds) {
    const made: Answer = await server.send(`POST ${definitions}`, crd, root);
    expect(made.status, made.text).to.equal(201);
    waiting.add(made.body.metadata.name);
  }
  await using watch = await server.watch(`${definitions}?watch=true&resourceVersion=0`, root);
  await watch.until(({ object }) => {
    if (isEstablished(object)) waiting.delete(object.metadata.name ?? "");
    return waiting.size === 0;
  });
}

function isEstablished(crd: object): boolean {
  const { status } = crd as { readonly status?: { readonly conditions?: readonly { type: string; status: string }[] } };
  return status?.conditions?.some((one) => one.type === "Established" && one.status === "True") === true;
}
