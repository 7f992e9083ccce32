// Why: bootstrap roles, the workspace's own roles and replicated ones are combined, listed, and take little memory.
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { type RbacObject, RbacPolicy, type Rules } from "@virtual-workspaces/framework/authz";
import { expect } from "chai";
import { bootstrapRoles } from "../../../packages/workspace-server/src/authz/bootstrap-roles.ts";
import { RbacPolicies } from "../../../packages/workspace-server/src/authz/rbac-policies.ts";
import { ACCESS, bindingOf, login, PODS, person, READ_PODS, SCOPES, team, WARRANT, World } from "./world.ts";

const bob = login("bob");

describe("RBAC in a workspace", () => {
  it("names the policy, binding and role that allow a request, and missing roles for a denied one", () => {
    const world = new World();
    world.admit("c", person("bob"));
    const no = {
      "05-bootstrap": "NoOpinion: bootstrap policy: ",
      "05-global": 'NoOpinion: global cluster "c" policy: ',
    };
    const passed = {
      "01-requiredgroups": "NoOpinion: delegating due to logical cluster does not require groups",
      "02-content": "NoOpinion: delegating due to user logical cluster access",
      "03-systemcrd": "NoOpinion: delegating due to no system CRD violation",
      "04-maxpermissionpolicy": "NoOpinion: delegating due to no relevant binding found",
    };
    expect(world.told(bob, PODS)).to.deep.equal({
      ...passed,
      ...no,
      "05-local": 'NoOpinion: local cluster "c" policy: ',
    });
    world.bind("c", "gone", { to: "gone", subject: person("bob") });
    const lost = 'RBAC: clusterrole.rbac.authorization.k8s.io "gone" not found';
    expect(world.told(bob, PODS)["05-local"]).to.equal(`NoOpinion: local cluster "c" policy: ${lost}`);
    expect(world.told(login("ada"), PODS)["05-local"]).to.equal(
      'Allowed: local cluster "c" policy: RBAC: allowed by ClusterRoleBinding "workspace-admin" of ClusterRole "cluster-admin" to User "ada"',
    );
    expect(world.told(login("ada"), PODS)).not.to.have.property("05-global");
    expect(world.told(login("a", { groups: ["system:kcp:admin"] }), PODS)["05-bootstrap"]).to.equal(
      'Allowed: bootstrap policy: RBAC: allowed by ClusterRoleBinding "system:kcp:admin:cluster-admin" of ClusterRole "cluster-admin" to Group "system:kcp:admin"',
    );
    const here = bindingOf("view", { to: "view", subject: { kind: "ServiceAccount", name: "bot" }, namespace: "ns" });
    world.policies.set("c", here);
    const bot = login("system:serviceaccount:ns:bot");
    expect(world.told(bot, { ...PODS, namespace: "ns" })["05-local"]).to.equal(
      'Allowed: local cluster "c" policy: RBAC: allowed by RoleBinding "view/ns" of ClusterRole "view" to ServiceAccount "bot/ns"',
    );
  });

  it("unites roles of the same name: a workspace's role adds to a bootstrap role", () => {
    const world = new World();
    world.admit("c", person("bob"));
    world.bind("c", "view", { to: "view", subject: person("bob") });
    const may = () => [world.may(bob, PODS), world.may(bob, { ...PODS, resource: "cows", group: "wild.dev" })];
    expect(may()).to.deep.equal([true, false]);
    world.role("c", "view", { verbs: ["get"], apiGroups: ["wild.dev"], resources: ["cows"] });
    expect(may()).to.deep.equal([true, true]);
    world.role("c", "cluster-admin", { verbs: ["get"], apiGroups: ["x.dev"], resources: ["y"] });
    expect(world.may(login("ada"), { ...PODS, verb: "delete" })).to.equal(true);
    world.workspace("d");
    world.bind("d", "view", { to: "view", subject: person("bob") });
    world.admit("d", person("bob"));
    expect(world.may(bob, { ...PODS, resource: "cows", group: "wild.dev", cluster: "d" })).to.equal(false);
  });

  it("unites Roles too, and lets bootstrap bindings use a workspace's roles only for access", () => {
    const world = new World();
    world.admit("c", person("bob"));
    for (const [cluster, resource] of [
      ["c", "pods"],
      ["system:admin", "nodes"],
    ] as const)
      world.policies.set(cluster, {
        kind: "Role",
        metadata: { name: "r", namespace: "ns" },
        rules: [{ verbs: ["get"], apiGroups: [""], resources: [resource] }],
      });
    world.bind("c", "r", { to: "r", subject: person("bob"), namespace: "ns", role: true });
    const may = (resource: string, namespace: string) => world.may(bob, { group: "", resource, namespace });
    expect([may("pods", "ns"), may("nodes", "ns"), may("pods", "other"), may("pods", "")]).to.deep.equal([
      true,
      true,
      false,
      false,
    ]);
    world.role("c", "system:discovery", { verbs: ["*"], nonResourceURLs: ["*"] });
    expect(world.may(login("eve"), { path: "/api" })).to.equal(true);
    expect(world.may(login("eve"), { path: "/custom" })).to.equal(false);
  });

  it("reflects changes immediately, also of other shards and of bootstrap roles", () => {
    const world = new World();
    world.admit("c", person("bob"));
    world.elsewhere.set("c", bindingOf("far", { to: "view", subject: person("bob") }));
    expect(world.told(bob, PODS)["05-global"]).to.match(/^Allowed: global cluster "c" policy: RBAC: allowed by/);
    world.elsewhere.delete("c", bindingOf("far", { to: "view", subject: person("bob") }));
    expect(world.may(bob, PODS)).to.equal(false);
    world.bind("system:admin", "all", { to: "view", subject: person("bob") });
    expect(world.may(bob, PODS)).to.equal(true);
    world.policies.delete("system:admin", bindingOf("all", { to: "view", subject: person("bob") }));
    expect(world.may(bob, PODS)).to.equal(false);
  });

  it("fails if the state fails, unless an earlier authorizer allows", () => {
    const world = new World();
    world.logicalCluster = () => {
      throw new Error("the state is away");
    };
    expect(() => world.may(login("ada"), PODS)).to.throw("the state is away");
    expect(world.may(login("x", { groups: ["system:masters"] }), PODS)).to.equal(true);
    expect(world.may(login("ada"), { path: "/livez" })).to.equal(true);
  });
});

describe("a rules review", () => {
  const rulesOf = (world: World, user = bob, namespace = "default"): Rules =>
    world.authorizer.rules({ user, params: { cluster: "c" }, namespace, signal: new AbortController().signal });
  const PUBLIC = ["/healthz", "/livez", "/readyz", "/version", "/version/"];
  const base = {
    resourceRules: [
      {
        verbs: ["create"],
        apiGroups: ["authorization.k8s.io"],
        resources: ["selfsubjectaccessreviews", "selfsubjectrulesreviews"],
      },
      { verbs: ["create"], apiGroups: ["authentication.k8s.io"], resources: ["selfsubjectreviews"] },
    ],
    nonResourceRules: [
      {
        verbs: ["get"],
        nonResourceURLs: ["/api", "/api/*", "/apis", "/apis/*", "/openapi", "/openapi/*", ...PUBLIC].sort(),
      },
      { verbs: ["get"], nonResourceURLs: PUBLIC },
    ],
    incomplete: false,
  };

  it("of a user with access lists the rules of all users, and access", () => {
    const world = new World();
    world.admit("c", person("bob"));
    const access = { verbs: ["access"], nonResourceURLs: ["/"] };
    expect(rulesOf(world)).to.deep.equal({ ...base, nonResourceRules: [...base.nonResourceRules, access] });
  });

  it("of kcp's admins lists everything, and out of scope only the rules of all users", () => {
    const world = new World();
    const admin = (extra = {}) => login("x", { groups: ["system:kcp:admin"], extra });
    const all = { verbs: ["*"], apiGroups: ["*"], resources: ["*"] };
    expect(rulesOf(world, admin()).resourceRules).to.have.deep.members([...base.resourceRules, all]);
    const confined = rulesOf(world, admin({ [SCOPES]: ["cluster:d"] }));
    expect(confined.resourceRules).to.deep.equal(base.resourceRules);
    expect(rulesOf(world, admin({ [SCOPES]: ["cluster:c"] })).resourceRules).to.deep.include(all);
    const warranted = login("y", { extra: { [WARRANT]: ['{"groups":["system:kcp:admin"]}'] } });
    expect(rulesOf(world, warranted).resourceRules).to.deep.include(all);
  });

  it("lists each binding once, by namespace, and none of another shard", () => {
    const world = new World();
    world.role("c", "pods", READ_PODS);
    world.policies.set("c", bindingOf("ns", { to: "pods", subject: person("eve"), namespace: "default" }));
    const eve = login("eve", { extra: { [WARRANT]: ['{"user":"eve"}'] } });
    expect(rulesOf(world, eve).resourceRules.slice(2)).to.deep.equal([READ_PODS]);
    expect(rulesOf(world, eve, "other").resourceRules.slice(2)).to.deep.equal([]);
    world.elsewhere.set("c", bindingOf("far", { to: "view", subject: person("eve") }));
    expect(rulesOf(world, eve, "other").resourceRules.slice(2)).to.deep.equal([]);
    world.bind("c", "gone", { to: "gone", subject: person("eve") });
    expect(rulesOf(world, eve).evaluationError).to.equal('clusterrole.rbac.authorization.k8s.io "gone" not found');
  });
});

describe("bootstrap roles", () => {
  it("are valid in Kubernetes", () => {
    expect(new RbacPolicy(bootstrapRoles).empty).to.equal(false);
  });

  const who = (group: string) => login("x", { groups: [group] });
  const rows: readonly [string, string, string, string, boolean][] = [
    ["system:kcp:external-logical-cluster-admin", "get", "", "secrets", true],
    ["system:kcp:external-logical-cluster-admin", "list", "", "secrets", false],
    ["system:kcp:external-logical-cluster-admin", "update", "core.kcp.io", "logicalclusters", true],
    ["system:kcp:external-logical-cluster-admin", "create", "authorization.k8s.io", "subjectaccessreviews", true],
    ["system:kcp:external-logical-cluster-admin", "delete", "", "configmaps", false],
    ["system:kcp:logical-cluster-admin", "delete", "tenancy.kcp.io", "workspaces", true],
    ["system:kcp:logical-cluster-admin", "create", "tenancy.kcp.io", "workspaces", false],
    ["system:kcp:tenancy:workspace-bootstrapper", "create", "any.dev", "things", true],
    ["viewers", "list", "", "configmaps", true],
    ["viewers", "list", "", "secrets", false],
    ["viewers", "create", "", "configmaps", false],
    ["editors", "get", "", "secrets", true],
    ["editors", "update", "coordination.k8s.io", "leases", true],
    ["editors", "impersonate", "", "serviceaccounts", true],
    ["editors", "create", "rbac.authorization.k8s.io", "roles", false],
    ["admins", "create", "rbac.authorization.k8s.io", "roles", true],
    ["admins", "list", "", "configmaps", true],
    ["admins", "create", "rbac.authorization.k8s.io", "clusterroles", false],
    ["readers", "watch", "tenancy.kcp.io", "workspaces", true],
    ["readers", "create", "tenancy.kcp.io", "workspaces", false],
  ];
  for (const [group, verb, apiGroup, resource, allowed] of rows)
    it(`${allowed ? "let" : "do not let"} ${group} ${verb} ${resource}`, () => {
      const world = new World();
      for (const [name, to] of [
        ["viewers", "view"],
        ["editors", "edit"],
        ["admins", "admin"],
        ["readers", "system:kcp:tenancy:reader"],
      ] as const) {
        world.bind("c", name, { to, subject: team(name) });
        world.admit("c", team(name));
      }
      expect(world.may(who(group), { verb, group: apiGroup, resource, namespace: "default" })).to.equal(allowed);
    });
});

describe("RbacPolicies", () => {
  const admin = (name: string): RbacObject => ({
    kind: "ClusterRoleBinding",
    metadata: { name: "workspace-admin", uid: "3", annotations: { a: "b" } },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "cluster-admin" },
    subjects: [{ ...person(name), apiGroup: "rbac.authorization.k8s.io" }],
  });

  it("keep only logical clusters with objects", () => {
    const policies = new RbacPolicies();
    expect(policies.of("a")).to.equal(undefined);
    policies.set("a", admin("x"));
    const policy = policies.of("a");
    policies.set("a", { kind: "ClusterRole", metadata: { name: "r" } });
    policies.set("a", { kind: "Role", metadata: { name: "r", namespace: "ns" } });
    policies.set("a", bindingOf("b", { to: "r", subject: person("x"), namespace: "ns" }));
    expect([policies.of("a") === policy, policies.size]).to.deep.equal([true, 1]);
    expect(policies.delete("a", { kind: "RoleBinding", metadata: { name: "b" } })).to.equal(false);
    expect(policies.delete("b", admin("x"))).to.equal(false);
    for (const [kind, namespace] of [["ClusterRole"], ["Role", "ns"], ["RoleBinding", "ns"]] as const)
      expect(
        policies.delete("a", { kind, metadata: { name: kind === "RoleBinding" ? "b" : "r", namespace } }),
      ).to.equal(true);
    expect([
      policies.of("a") === policy,
      policies.delete("a", admin("x")),
      policies.of("a"),
      policies.size,
    ]).to.deep.equal([true, true, undefined, 0]);
    policies.set("a", admin("x"));
    policies.drop("a");
    expect(policies.of("a")).to.equal(undefined);
  });

  it("ignore RoleBindings without a namespace, and take null rules and subjects as empty", () => {
    const world = new World();
    world.admit("c", person("bob"));
    const broken = { ...bindingOf("b", { to: "cluster-admin", subject: person("bob"), namespace: "" }) };
    world.policies.set("c", broken);
    expect(world.may(bob, PODS)).to.equal(false);
    world.policies.set("c", { kind: "ClusterRole", metadata: { name: "r" }, rules: null } as unknown as RbacObject);
    world.bind("c", "r", { to: "r", subject: person("bob") });
    world.policies.set("c", {
      ...bindingOf("n", { to: "r", subject: person("x") }),
      subjects: null,
    } as unknown as RbacObject);
    expect(world.may(bob, PODS)).to.equal(false);
    expect(world.may(bob, { path: "/api" })).to.equal(true);
    expect(ACCESS).to.equal("system:kcp:workspace:access");
  });

  it("take a few hundred bytes for a workspace with its admin", () => {
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as () => void;
    const policies = new RbacPolicies();
    const count = 20_000;
    const texts = Array.from({ length: count }, (_, at) => JSON.stringify(admin(`user-${at}`)));
    const names = texts.map((_, at) => `cluster${at}`);
    collect();
    const before = process.memoryUsage().heapUsed;
    for (const [at, text] of texts.entries()) policies.set(names[at] as string, JSON.parse(text));
    collect();
    const each = (process.memoryUsage().heapUsed - before) / count;
    expect(policies.size).to.equal(count);
    expect(each).to.be.below(600);
  });
});
