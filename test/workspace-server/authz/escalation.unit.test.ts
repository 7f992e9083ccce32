// Why: users cannot grant more than they have, as Kubernetes' registry checks for roles and bindings.
import { isApiError, type KubeObject } from "@virtual-workspaces/apimachinery";
import type { ResourceDefinition, User } from "@virtual-workspaces/framework";
import type { RbacObject } from "@virtual-workspaces/framework/authz";
import { ClusterRole, ClusterRoleBinding, ConfigMap, Role, RoleBinding } from "@virtual-workspaces/workspace-server";
import { expect } from "chai";
import { roleEscalation } from "../../../packages/workspace-server/src/authz/role-escalation.ts";
import { bindingOf, login, person, READ_PODS, SCOPES, team, WARRANT, World } from "./world.ts";

const RBAC = "rbac.authorization.k8s.io";
const WRITE_RBAC = { verbs: ["*"], apiGroups: [RBAC], resources: ["roles", "rolebindings"] };

/** Bob may write roles and bindings and read pods, and read secrets in `ns`. */
function world(): World {
  const made = new World();
  made.role("c", "bob", READ_PODS, { ...WRITE_RBAC, verbs: ["create", "update"] });
  made.bind("c", "bob", { to: "bob", subject: person("bob") });
  made.role("c", "secrets", { verbs: ["get"], apiGroups: [""], resources: ["secrets"] });
  made.bind("c", "secrets", { to: "secrets", subject: person("bob"), namespace: "ns" });
  made.admit("c", person("bob"));
  return made;
}

const DEFINITIONS: ReadonlyMap<string, ResourceDefinition> = new Map(
  [Role, ClusterRole, RoleBinding, ClusterRoleBinding].map((kind) => [
    kind.kind,
    kind as unknown as ResourceDefinition,
  ]),
);

interface Attempt {
  readonly user?: User;
  readonly old?: RbacObject;
  readonly cluster?: string;
  readonly subresource?: string;
}

/** Returns the error of a write; "" for none. */
async function told(made: World, object: RbacObject, options: Attempt = {}): Promise<string> {
  const { user = login("bob"), old, cluster = "c", subresource = "" } = options;
  const admit = roleEscalation({ state: made, authorizer: made.authorizer });
  try {
    await admit({
      operation: old === undefined ? "CREATE" : "UPDATE",
      object: object as unknown as KubeObject,
      oldObject: old as unknown as KubeObject | undefined,
      definition: DEFINITIONS.get(object.kind) ?? (ConfigMap as unknown as ResourceDefinition),
      deletion: undefined,
      subresource,
      user,
      params: { cluster },
      dryRun: false,
      fieldManager: "",
      versions: undefined,
      signal: new AbortController().signal,
      settled: Promise.resolve(),
      warn: () => undefined,
      audit: undefined,
      conform: () => undefined,
      validate: () => undefined,
    });
    return "";
  } catch (error) {
    if (!isApiError(error)) throw error;
    return `${error.code} ${error.message}`;
  }
}

const role = (...rules: readonly object[]): RbacObject =>
  ({ kind: "Role", metadata: { name: "r", namespace: "ns" }, rules }) as RbacObject;
const clusterRole = (rules: readonly object[], more: object = {}): RbacObject =>
  ({ kind: "ClusterRole", metadata: { name: "r" }, rules, ...more }) as RbacObject;
const GRANTS =
  'user "bob" (groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n';

describe("a role", () => {
  it("is admitted with rules that the user holds", async () => {
    expect(await told(world(), role(READ_PODS))).to.equal("");
    expect(await told(world(), role({ ...READ_PODS, resourceNames: ["one"] }))).to.equal("");
    expect(await told(world(), role({ ...READ_PODS, resources: ["secrets"] }))).to.equal("");
    expect(await told(world(), role())).to.equal("");
    expect(await told(world(), clusterRole([{ verbs: ["get"], nonResourceURLs: ["/api/v1", "/version"] }]))).to.equal(
      "",
    );
  });

  it("is rejected with other rules, which the message lists as Kubernetes does", async () => {
    const more = { verbs: ["get", "list"], apiGroups: ["", "apps"], resources: ["pods", "pods/log"] };
    expect(await told(world(), role(more))).to.equal(
      `403 roles.${RBAC} "r" is forbidden: ${GRANTS}` +
        '{APIGroups:[""], Resources:["pods"], Verbs:["list"]}\n' +
        '{APIGroups:[""], Resources:["pods/log"], Verbs:["get" "list"]}\n' +
        '{APIGroups:["apps"], Resources:["pods"], Verbs:["get" "list"]}\n' +
        '{APIGroups:["apps"], Resources:["pods/log"], Verbs:["get" "list"]}',
    );
    expect(await told(world(), clusterRole([{ verbs: ["get", "put"], nonResourceURLs: ["/secret"] }]))).to.equal(
      `403 clusterroles.${RBAC} "r" is forbidden: ${GRANTS}` +
        '{NonResourceURLs:["/secret"], Verbs:["get"]}\n{NonResourceURLs:["/secret"], Verbs:["put"]}',
    );
    expect(await told(world(), role({ ...READ_PODS, verbs: ["delete"], resourceNames: ["a", "b"] }))).to.contain(
      '{APIGroups:[""], Resources:["pods"], ResourceNames:["a"], Verbs:["delete"]}\n{APIGroups:[""], Resources:["pods"], ResourceNames:["b"], Verbs:["delete"]}',
    );
  });

  it("for the whole cluster cannot have rules that the user holds in a namespace only", async () => {
    const secrets = { ...READ_PODS, resources: ["secrets"] };
    expect(await told(world(), clusterRole([secrets]))).to.match(
      /^403 .*\n\{APIGroups:\[""\], Resources:\["secrets"\]/,
    );
    expect(
      await told(world(), { ...role(secrets), metadata: { name: "r", namespace: "other" } } as RbacObject),
    ).to.match(/^403/);
  });

  const covered: readonly [string, object, object, boolean][] = [
    [
      "* is covered by *",
      { verbs: ["*"], apiGroups: ["*"], resources: ["*"] },
      { verbs: ["*"], apiGroups: ["*"], resources: ["*"] },
      true,
    ],
    [
      "* is not covered by single verbs",
      { ...READ_PODS, verbs: ["get", "list", "watch", "create"] },
      { ...READ_PODS, verbs: ["*"] },
      false,
    ],
    [
      "a subresource is covered by that of all resources",
      { ...READ_PODS, resources: ["*/status"] },
      { ...READ_PODS, resources: ["pods/status"] },
      true,
    ],
    [
      "another subresource is not",
      { ...READ_PODS, resources: ["*/status"] },
      { ...READ_PODS, resources: ["pods/log"] },
      false,
    ],
    ["a subresource is not covered by its resource", READ_PODS, { ...READ_PODS, resources: ["pods/log"] }, false],
    [
      "all names are not covered by one",
      { ...READ_PODS, resources: ["nodes"], resourceNames: ["a"] },
      { ...READ_PODS, resources: ["nodes"] },
      false,
    ],
    [
      "a name is covered by that name",
      { ...READ_PODS, resources: ["nodes"], resourceNames: ["a", "b"] },
      { ...READ_PODS, resources: ["nodes"], resourceNames: ["a"] },
      true,
    ],
    [
      "two names are covered by two rules",
      { ...READ_PODS, resources: ["nodes"], resourceNames: ["a"] },
      { ...READ_PODS, resources: ["nodes"], resourceNames: ["a", "b"] },
      false,
    ],
    [
      "a path is covered by its prefix",
      { verbs: ["get"], nonResourceURLs: ["/x/*"] },
      { verbs: ["get"], nonResourceURLs: ["/x/y", "/x/*"] },
      true,
    ],
    [
      "a path is not covered by another",
      { verbs: ["get"], nonResourceURLs: ["/x/*"] },
      { verbs: ["get"], nonResourceURLs: ["/x"] },
      false,
    ],
    [
      "all paths are covered by *",
      { verbs: ["*"], nonResourceURLs: ["*"] },
      { verbs: ["*"], nonResourceURLs: ["*"] },
      true,
    ],
    [
      "a path is not covered by all resources",
      { verbs: ["*"], apiGroups: ["apps"], resources: ["*"] },
      { verbs: ["get"], nonResourceURLs: ["/x"] },
      false,
    ],
    [
      "an object is not covered by all paths",
      { verbs: ["*"], nonResourceURLs: ["*"] },
      { ...READ_PODS, resources: ["nodes"] },
      false,
    ],
  ];
  for (const [what, held, wanted, expected] of covered)
    it(`is checked for coverage: ${what}`, async () => {
      const made = world();
      made.role("c", "held", held as typeof READ_PODS);
      made.bind("c", "held", { to: "held", subject: person("eve") });
      made.admit("c", person("eve"));
      expect(await told(made, clusterRole([wanted]), { user: login("eve") })).to.match(expected ? /^$/ : /^403/);
    });

  it("may have any rules if the user may escalate, is kcp's admin or in system:masters, respecting scopes and warrants", async () => {
    const all = clusterRole([{ verbs: ["*"], apiGroups: ["*"], resources: ["*"] }]);
    const made = world();
    expect(await told(made, all)).to.match(/^403/);
    expect(await told(made, all, { user: login("ada") })).to.equal("");
    expect(await told(made, all, { user: login("x", { groups: ["system:masters"] }), cluster: "gone" })).to.equal("");
    const admin = { groups: ["system:kcp:admin"] };
    expect(await told(made, all, { user: login("x", admin) })).to.equal("");
    expect(await told(made, all, { user: login("x", { ...admin, extra: { [SCOPES]: ["cluster:d"] } }) })).to.match(
      /^403/,
    );
    expect(await told(made, all, { user: login("x", { extra: { [WARRANT]: [JSON.stringify(admin)] } }) })).to.equal("");
    made.role("c", "escalate", {
      verbs: ["escalate"],
      apiGroups: [RBAC],
      resources: ["clusterroles"],
      resourceNames: ["r"],
    });
    made.bind("c", "escalate", { to: "escalate", subject: person("bob") });
    expect(await told(made, all)).to.match(/^403/);
    expect(await told(made, all, { old: clusterRole([]) })).to.equal("");
  });

  it("is checked when its rules change, not when only its owners do", async () => {
    const more = clusterRole([{ ...READ_PODS, verbs: ["delete"] }]);
    const owned = { ...more, metadata: { name: "r", resourceVersion: "2", finalizers: ["a/b"], ownerReferences: [] } };
    expect(await told(world(), owned as RbacObject, { old: more })).to.equal("");
    const labelled = { ...more, metadata: { name: "r", labels: { a: "b" } } } as RbacObject;
    expect(await told(world(), labelled, { old: more })).to.match(/^403/);
    expect(await told(world(), clusterRole([READ_PODS]), { old: more })).to.equal("");
  });

  it("may gain or lose an aggregation rule only if the user holds everything", async () => {
    const of = { aggregationRule: { clusterRoleSelectors: [{ matchLabels: { a: "b" } }] } };
    const message = `403 clusterroles.${RBAC} "r" is forbidden: must have cluster-admin privileges to use the aggregationRule`;
    expect(await told(world(), clusterRole([], of))).to.equal(message);
    expect(await told(world(), clusterRole([]), { old: clusterRole([], of) })).to.equal(message);
    expect(await told(world(), clusterRole([], of), { user: login("ada") })).to.equal("");
  });
});

describe("a binding", () => {
  it("is admitted to a role whose rules the user holds, in a namespace or the cluster, also to bootstrap roles", async () => {
    const made = world();
    made.role("c", "pods", READ_PODS);
    const wide = (to: string) => bindingOf("b", { to, subject: person("eve") });
    expect(await told(made, wide("pods"))).to.equal("");
    expect(await told(made, wide("secrets"))).to.contain(`403 clusterrolebindings.${RBAC} "b" is forbidden: ${GRANTS}`);
    expect(await told(made, bindingOf("b", { to: "secrets", subject: person("eve"), namespace: "ns" }))).to.equal("");
    expect(await told(made, bindingOf("b", { to: "secrets", subject: person("eve"), namespace: "other" }))).to.match(
      /^403 rolebindings\.rbac/,
    );
    expect(await told(made, wide("cluster-admin"))).to.match(/^403/);
    expect(await told(made, wide("system:kcp:workspace:access"))).to.equal("");
    made.role("c", "cluster-admin", READ_PODS);
    expect(await told(made, wide("cluster-admin"))).to.match(/^403/);
  });

  it("is admitted to a role that the user may bind by name", async () => {
    const made = world();
    made.role("c", "binder", {
      verbs: ["bind"],
      apiGroups: [RBAC],
      resources: ["clusterroles"],
      resourceNames: ["edit"],
    });
    made.bind("c", "binder", { to: "binder", subject: person("bob") });
    expect(await told(made, bindingOf("b", { to: "edit", subject: person("eve") }))).to.equal("");
    expect(await told(made, bindingOf("b", { to: "admin", subject: person("eve") }))).to.match(/^403/);
    expect(await told(made, bindingOf("b", { to: "edit", subject: team("all") }), { user: login("eve") })).to.match(
      /^403/,
    );
  });

  it("to a missing role is rejected with 404, unless the user may bind any", async () => {
    const made = world();
    const lost = bindingOf("b", { to: "gone", subject: person("eve") });
    expect(await told(made, lost)).to.equal(`404 clusterroles.${RBAC} "gone" not found`);
    const local = bindingOf("b", { to: "gone", subject: person("eve"), namespace: "ns", role: true });
    expect(await told(made, local)).to.equal(`404 roles.${RBAC} "gone" not found`);
    expect(await told(made, lost, { user: login("ada") })).to.equal("");
  });

  it("of the user to a missing role appears in the error of an escalation", async () => {
    const made = world();
    made.bind("c", "lost", { to: "gone", subject: person("bob") });
    expect(await told(made, clusterRole([{ ...READ_PODS, verbs: ["delete"] }]))).to.match(
      /; resolution errors: \[clusterrole\.rbac\.authorization\.k8s\.io "gone" not found\]$/,
    );
  });
});

it("an object that is neither a role nor a binding is not checked for escalation", async () => {
  const other = {
    kind: "ConfigMap",
    metadata: { name: "x" },
    rules: [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"] }],
  };
  expect(await told(world(), other as unknown as RbacObject)).to.equal("");
});
