// Server that reviews tokens and access for others, like a kube-apiserver: views of ours with RBAC.
import {
  createServer,
  defineVirtualWorkspace,
  groups,
  type Identity,
  Resource,
  staticTokens,
} from "@virtual-workspaces/framework";
import { authenticatedUser } from "@virtual-workspaces/framework/authn";
import { type RbacObject, RbacPolicy, rbac } from "@virtual-workspaces/framework/authz";
import type { Scope } from "@virtual-workspaces/framework/storage";
import type { UpstreamOptions } from "@virtual-workspaces/transport";
import { testLog } from "../_setup/log.ts";
import { asked } from "../_support/asked.ts";

interface TokenContent {
  readonly spec: { readonly token: string; readonly audiences?: readonly string[] };
  readonly status?: object;
}

export interface AccessContent {
  readonly spec: {
    readonly user: string;
    readonly uid?: string;
    readonly groups?: readonly string[];
    readonly extra?: Identity["extra"];
    readonly resourceAttributes?: Readonly<Record<string, string>>;
    readonly nonResourceAttributes?: { readonly path: string; readonly verb: string };
  };
  readonly status?: object;
}

const anything = { type: "object", "x-kubernetes-preserve-unknown-fields": true } as const;
const review = {
  version: "v1",
  scope: "Cluster",
  schema: { type: "object", properties: { spec: anything, status: anything } },
} as const;
const TokenReview = new Resource<TokenContent>({ ...review, group: "authentication.k8s.io", kind: "TokenReview" });
const SubjectAccessReview = new Resource<AccessContent>({
  ...review,
  group: "authorization.k8s.io",
  kind: "SubjectAccessReview",
});

/** User with a token, and its audiences in addition to the server itself. */
export interface Known extends Partial<Identity> {
  readonly name: string;
  readonly audiences?: readonly string[];
}

/** Permission for notes in a logical cluster. */
interface Permission {
  readonly verbs: readonly string[];
  readonly to: { readonly kind: "User" | "Group"; readonly name: string };
  /** Logical cluster. @default "root" */
  readonly cluster?: string;
}

function objectsOf({ verbs, to }: Permission): readonly RbacObject[] {
  const name = `of-${to.name}`;
  const rules = [
    { apiGroups: ["test.dev", ""], resources: ["notes", "users", "groups"], verbs },
    { nonResourceURLs: ["*"], verbs: ["get"] },
  ];
  return [
    { kind: "ClusterRole", metadata: { name }, rules },
    { kind: "ClusterRoleBinding", metadata: { name }, roleRef: { kind: "ClusterRole", name }, subjects: [to] },
  ];
}

/** Starts a server. The token of its delegator is `delegator`. */
export async function startReviewing() {
  const tokens = new Map<string, Known>();
  const policies = new Map<string, RbacPolicy>();
  const seen = { tokens: [] as TokenContent["spec"][], access: [] as (AccessContent["spec"] & { cluster: string })[] };
  let gate: Promise<void> | undefined;
  const policyOf = (cluster: string): RbacPolicy => {
    const policy = policies.get(cluster) ?? new RbacPolicy();
    policies.set(cluster, policy);
    return policy;
  };
  const view = defineVirtualWorkspace({
    name: "kube",
    path: "/clusters/:cluster",
    authorize: groups("delegators"),
    resources: [
      TokenReview.serve({
        lifecycle: "storage",
        create: async (_scope: Scope, object) => {
          seen.tokens.push(object.spec);
          await gate;
          return { ...object, spec: { token: "" }, status: tokenStatus(tokens, object.spec) };
        },
      }),
      SubjectAccessReview.serve({
        lifecycle: "storage",
        create: async ({ params }: Scope, object) => {
          const cluster = params["cluster"] ?? "";
          seen.access.push({ ...object.spec, cluster });
          await gate;
          return { ...object, status: await accessStatus(policyOf(cluster), object.spec) };
        },
      }),
    ],
  });
  const server = createServer({
    virtualWorkspaces: [view],
    authentication: [staticTokens({ delegator: { name: "delegator", groups: ["delegators"] } })],
    limits: { inFlight: 5_000, perUser: 1, perVirtualWorkspace: 1, mutating: 5_000 },
    log: testLog().log,
  });
  const { url } = await server.listen({ port: 0 });
  const upstream: UpstreamOptions = {
    url: `${url}/services/kube`,
    credentials: { get: () => ({ headers: ["Authorization", "Bearer delegator"] }) },
  };
  return {
    upstream,
    tokens,
    seen,
    permit: (permission: Permission): void => {
      for (const object of objectsOf(permission)) policyOf(permission.cluster ?? "root").set(object);
    },
    /** Revokes a permission in the logical cluster `root`. */
    withdraw: (name: string): void => {
      policyOf("root").delete({ kind: "ClusterRoleBinding", metadata: { name: `of-${name}` } });
    },
    /** Holds later reviews until the returned function is called. */
    hold: (): (() => void) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      gate = promise;
      return () => {
        gate = undefined;
        resolve();
      };
    },
    [Symbol.asyncDispose]: () => server.close(),
  };
}

/** The server's own audience is `kube`. */
function tokenStatus(
  tokens: ReadonlyMap<string, Known>,
  { token, audiences: wanted = ["kube"] }: TokenContent["spec"],
) {
  const known = tokens.get(token);
  if (known === undefined) return { user: {}, error: "invalid bearer token" };
  const { name: username, uid, groups, extra, audiences = ["kube"] } = known;
  const common = wanted.filter((one) => audiences.includes(one));
  if (common.length === 0) return { user: {}, error: `token audiences ${audiences} is invalid for ${wanted}` };
  return { authenticated: true, audiences: common, user: { username, uid, groups, extra } };
}

async function accessStatus(policy: RbacPolicy, spec: AccessContent["spec"]): Promise<object> {
  const user = authenticatedUser({ name: spec.user, groups: spec.groups ?? [] });
  const { allowed } = await rbac({ policy })(asked(user, spec.resourceAttributes ?? spec.nonResourceAttributes ?? {}));
  return allowed ? { allowed, reason: "RBAC: a role says so" } : { allowed, reason: "RBAC: no secret-role was found" };
}

/** Repeats a request until the result changes from the first value to the second. @returns the time, in ms */
export async function untilChanged<T>(ask: () => Promise<T>, { from, to }: { from: T; to: T }): Promise<number> {
  const began = performance.now();
  for (;;) {
    const answer = await ask();
    if (answer === to) return performance.now() - began;
    if (answer !== from) throw new Error(`neither ${from} nor ${to}: ${answer}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
