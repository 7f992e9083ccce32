// Workspaces with different permissions, and requests to compare.
import { expect } from "chai";
import { type Answer, type Calls, outcome } from "../../../../_support/plain.ts";
import { binding, configMap, paths, widget, widgetExport, widgetSchema } from "../../../faults/support/tree.ts";
import { grant, makeAdmin, makeNamespace } from "../../../support/logical-clusters.ts";
import { ClusterClient } from "../../../support/objects.ts";
import type { Workspaces } from "../../../support/workspaces.ts";

export const WORKSPACES = "/apis/tenancy.kcp.io/v1alpha1/workspaces";
export const WIDGETS = "/apis/example.dev/v1/widgets";
const RBAC = "rbac.authorization.k8s.io";
const CLUSTER = "/apis/core.kcp.io/v1alpha1/logicalclusters/cluster";
const ACCOUNTS = "/api/v1/namespaces/default/serviceaccounts";
const REVIEWS = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
export const root = { user: "root" };

/** Users of the tests besides alice and bob. */
export const USERS = ["carol", "dave"];

/** Logical clusters by workspace name, and related values. */
export interface Tree {
  readonly clusters: Readonly<Record<"own" | "child" | "provider" | "consumer" | "shut", string>>;
  readonly identity: string;
  /** Token of a service account in `own`. */
  readonly token: string;
}

interface Place {
  /** Path of the parent. @default root */
  readonly at?: string;
  /** @default any */
  readonly shard?: string | undefined;
}

/** Creates a workspace, and waits until it is ready by reading only it. @returns its logical cluster */
export async function make(server: Calls, name: string, { at = "root", shard }: Place = {}): Promise<string> {
  const location = shard && { location: { selector: { matchLabels: { name: shard } } } };
  const spec = { type: { name: "universal", path: "root" }, ...location };
  const client = new ClusterClient(server, at);
  await client.create(WORKSPACES, {
    apiVersion: "tenancy.kcp.io/v1alpha1",
    kind: "Workspace",
    metadata: { name },
    spec,
  });
  const { body } = await client.until(`${WORKSPACES}/${name}`, (answer) => answer.body.status?.phase === "Ready");
  return body.spec.cluster;
}

/**
 * Alice has `own`, its `child` and a service account there. Bob's `provider` exports widgets; Carol and Dave have all rights
 * on them in their `consumer`, and Bob's policy allows only Carol. `shut` is inactive. With several shards `provider` is on
 * `root`, and `own`, `consumer` and `shut` are on another.
 */
export async function makeTree(server: Workspaces, shard?: string): Promise<Tree> {
  const own = await make(server, "own", { shard });
  const clusters = {
    own,
    child: await make(server, "child", { at: "root:own" }),
    provider: await make(server, "provider", { shard: shard && "root" }),
    consumer: await make(server, "consumer", { shard }),
    shut: await make(server, "shut", { shard }),
  };
  for (const cluster of [clusters.own, clusters.child, clusters.shut]) await makeAdmin(server, cluster, "alice");
  await makeAdmin(server, clusters.consumer, "carol");
  await grant(server, clusters.consumer, { user: "dave", verbs: ["get", "list", "create"] });
  await makeNamespace(server, clusters.own, "going");
  await makePolicy(server, clusters.provider);
  const provider = new ClusterClient(server, clusters.provider);
  await provider.create(paths.SCHEMAS, widgetSchema());
  const exported = widgetExport("widgets") as { readonly spec: object };
  const spec = { ...exported.spec, maximalPermissionPolicy: { local: {} } };
  await provider.create(paths.EXPORTS, { ...exported, spec });
  const found = await provider.until(`${paths.EXPORTS}/widgets`, ({ body }) => body.status?.identityHash);
  const consumer = new ClusterClient(server, clusters.consumer);
  await consumer.create(paths.BINDINGS, binding("widgets", "root:provider"));
  await consumer.until(`${paths.BINDINGS}/widgets`, ({ body }) => body.status?.phase === "Bound");
  await consumer.create(WIDGETS, widget("kept"));
  const client = new ClusterClient(server, clusters.own);
  await client.create(ACCOUNTS, { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "robot" } });
  await makeReader(client, "system:serviceaccount:default:robot");
  const asked = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: {} };
  const { status } = await client.create(`${ACCOUNTS}/robot/token`, asked);
  const annotations = { "internal.kcp.io/inactive": "true", "core.kcp.io/inactive": "true" };
  await new ClusterClient(server, clusters.shut).patch(CLUSTER, { metadata: { annotations } });
  return { clusters, identity: found.body.status.identityHash, token: status.token };
}

/** Allows only Carol to read widgets, wherever they are bound. */
async function makePolicy(server: Workspaces, cluster: string): Promise<void> {
  const client = new ClusterClient(server, cluster);
  const rules = [{ apiGroups: ["example.dev"], resources: ["widgets"], verbs: ["get"] }];
  const about = { apiVersion: `${RBAC}/v1`, metadata: { name: "policy" } };
  await client.create(`/apis/${RBAC}/v1/clusterroles`, { ...about, kind: "ClusterRole", rules });
  await client.create(`/apis/${RBAC}/v1/clusterrolebindings`, {
    ...about,
    kind: "ClusterRoleBinding",
    roleRef: { apiGroup: RBAC, kind: "ClusterRole", name: "policy" },
    subjects: [{ apiGroup: RBAC, kind: "User", name: "apis.kcp.io:binding:carol" }],
  });
}

/** Grants with a Role and a RoleBinding. */
async function makeReader(client: ClusterClient, user: string): Promise<void> {
  const at = `/apis/${RBAC}/v1/namespaces/default`;
  const about = { apiVersion: `${RBAC}/v1`, metadata: { name: "reader" } };
  const rules = [{ apiGroups: [""], resources: ["configmaps"], verbs: ["get"] }];
  await client.create(`${at}/roles`, { ...about, kind: "Role", rules });
  await client.create(`${at}/rolebindings`, {
    ...about,
    kind: "RoleBinding",
    roleRef: { apiGroup: RBAC, kind: "Role", name: "reader" },
    subjects: [{ apiGroup: RBAC, kind: "User", name: user }],
  });
}

/**
 * Sends requests whose answers depend on the workspaces' own objects; they change nothing and list nothing.
 *
 * @returns by request: code, reason and message, or the result
 */
export async function askTree(server: Calls, { clusters, token }: Tree): Promise<Record<string, unknown>> {
  const map = "/api/v1/namespaces/default/configmaps/kube-root-ca.crt";
  const asked: readonly (readonly [user: string, path: string])[] = [
    ["alice", `/clusters/${clusters.own}${map}`],
    ["alice", `/clusters/root:own${map}`],
    ["bob", `/clusters/root:own${map}`],
    ["alice", `/clusters/root:own:child${map}`],
    ["alice", `/clusters/${clusters.own}:child${map}`],
    ["bob", `/clusters/${clusters.child}${map}`],
    ["alice", `/clusters/root:own:nothing${map}`],
    ["alice", "/clusters/root:own/api/v1/namespaces/going"],
    ["alice", "/clusters/root:own/api/v1/namespaces/nothing"],
    ["alice", `/clusters/nothing${map}`],
    ["root", `/clusters/nothing${map}`],
    ["alice", `/clusters/root:nothing${map}`],
    ["carol", `/clusters/root:consumer${WIDGETS}/kept`],
    ["dave", `/clusters/root:consumer${WIDGETS}/kept`],
    ["dave", `/clusters/root:consumer${map}`],
    ["carol", `/clusters/root:own${WIDGETS}/kept`],
    ["root", `/clusters/root:own${WIDGETS}/kept`],
    ["alice", `/clusters/root:shut${map}`],
    ["root", `/clusters/${clusters.shut}${map}`],
    [token, `/clusters/root:own${map}`],
    [token, `/clusters/root:own:child${map}`],
    [token, `/clusters/root:consumer${map}`],
    // Last, since it makes the server read the workspace.
    ["bob", `/clusters/root:provider${paths.EXPORTS}/widgets`],
  ];
  const found: Record<string, unknown> = {};
  for (const [user, path] of asked) found[`${user.slice(0, 8)} ${path}`] = told(await server.get(path, { user }));
  for (const user of ["carol", "dave"]) found[`may ${user}`] = await mayRead(server, clusters.consumer, user);
  const dry = "/clusters/root:own/api/v1/namespaces/nothing/configmaps?dryRun=All";
  found["into nothing"] = told(await server.send(`POST ${dry}`, configMap("x"), { user: "alice" }));
  return found;
}

async function mayRead(server: Calls, cluster: string, user: string): Promise<unknown> {
  const resourceAttributes = { group: "example.dev", resource: "widgets", verb: "get", name: "kept" };
  const spec = { user, groups: ["system:authenticated"], resourceAttributes };
  const review = { apiVersion: "authorization.k8s.io/v1", kind: "SubjectAccessReview", spec };
  const { status, body } = await server.send(`POST /clusters/${cluster}${REVIEWS}`, review, root);
  expect(status).to.equal(201);
  return body.status.allowed;
}

function told(answer: Answer): unknown[] {
  const { metadata, kind } = answer.body;
  return answer.status < 300 ? [answer.status, kind, metadata?.name] : outcome(answer);
}
