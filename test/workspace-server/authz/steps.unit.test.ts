// Why: the steps before RBAC, one table each, with decisions and audit reasons.
import type { Decision, User } from "@virtual-workspaces/framework";
import { expect } from "chai";
import type { LogicalClusterState } from "../../../packages/workspace-server/src/authz/authorizer-state.ts";
import { type About, bare, login, PODS, person, READ_PODS, robot, team, World } from "./world.ts";

const ada = login("ada");
const MASTER = login("root", { groups: ["system:masters"] });

describe("requests that are always allowed", () => {
  it("include those of system:masters whatever their scopes, but not by warrant", () => {
    const world = new World();
    for (const cluster of ["c", "gone", "system:admin", "*", ""]) {
      expect(world.may(MASTER, { ...PODS, cluster })).to.equal(true);
      expect(
        world.may(login("x", { groups: ["system:masters"], extra: scopes("other") }), { ...PODS, cluster }),
      ).to.equal(true);
    }
    const warranted = login("x", {
      extra: { "authorization.kcp.io/warrant": ['{"user":"y","groups":["system:masters"]}'] },
    });
    expect(world.may(warranted, { ...PODS, cluster: "system:admin" })).to.equal(false);
    const status = { group: "apis.kcp.io", resource: "apiexports", subresource: "status", verb: "update" };
    expect(world.may(warranted, status)).to.equal(false);
    expect(world.may(MASTER, status)).to.equal(true);
  });

  for (const path of ["/healthz", "/readyz", "/livez"])
    it(`include ${path} for any user, in any workspace`, () => {
      const world = new World();
      const nobody = bare("system:anonymous", { groups: ["system:unauthenticated"] });
      for (const cluster of ["c", "gone", "*"]) {
        expect(world.may(nobody, { path, cluster })).to.equal(true);
        expect(world.may(nobody, { path: `${path}/ping`, cluster })).to.equal(false);
      }
      expect(world.may(nobody, { ...PODS, path, isResource: true })).to.equal(false);
    });
});

const scopes = (...values: readonly string[]) => ({
  "authentication.kcp.io/scopes": values.map((value) => `cluster:${value}`),
});

describe("required groups", () => {
  const step = "01-requiredgroups";
  const rows: readonly [string, string | undefined, User, string][] = [
    ["no groups", undefined, ada, "Allowed: delegating due to logical cluster does not require groups"],
    ["a group that the user lacks", "a", ada, "Denied: user is not a member of required groups: a"],
    [
      "a group that the user has",
      "a",
      login("ada", { groups: ["a"] }),
      "Allowed: delegating due to user is member of required groups: a",
    ],
    [
      "two groups, one of which the user lacks",
      "a,b",
      login("ada", { groups: ["a"] }),
      "Denied: user is not a member of required groups: a,b",
    ],
    [
      "two groups that the user has",
      "a,b",
      login("ada", { groups: ["b", "a"] }),
      "Allowed: delegating due to user is member of required groups: a,b",
    ],
    [
      "two groups or a third",
      "a,b;c",
      login("ada", { groups: ["c"] }),
      "Allowed: delegating due to user is member of required groups: a,b;c",
    ],
    [
      "a group with a space in its name",
      "a; c",
      login("ada", { groups: ["c"] }),
      "Denied: user is not a member of required groups: a; c",
    ],
    ["an empty list", "", ada, "Denied: user is not a member of required groups: "],
    [
      "a group, for kcp's admins",
      "a",
      login("x", { groups: ["system:kcp:admin"] }),
      "Allowed: delegating due to user is member of required groups: a",
    ],
    [
      "a group, for kcp's bootstrapper",
      "a",
      login("x", { groups: ["system:kcp:tenancy:workspace-bootstrapper"] }),
      "Allowed: delegating due to user is member of required groups: a",
    ],
    [
      "a group, for a user out of scope",
      "a",
      login("ada", { groups: ["a"], extra: scopes("d") }),
      "Denied: user is not a member of required groups: a",
    ],
    [
      "a group, for a user with a warrant",
      "a",
      login("ada", { extra: { "authorization.kcp.io/warrant": ['{"groups":["a"]}'] } }),
      "Allowed: delegating due to user is member of required groups: a",
    ],
    [
      "a group, for a service account",
      "a",
      robot("x", "c"),
      "NoOpinion: delegating due to service account access to logical cluster",
    ],
    [
      "a group, for a foreign service account",
      "a",
      robot("x", "d"),
      "NoOpinion: delegating due to service account access to logical cluster",
    ],
    [
      "a group, for the scheduler",
      "a",
      login("x", { groups: ["system:kcp:logical-cluster-admin"] }),
      "NoOpinion: delegating due to logical cluster admin access",
    ],
    [
      "a group, for other shards",
      "a",
      login("x", { groups: ["system:kcp:external-logical-cluster-admin"] }),
      "NoOpinion: delegating due to external logical cluster admin access",
    ],
  ];
  for (const [what, requiredGroups, user, reason] of rows)
    it(`decide about a workspace that requires ${what}`, () => {
      const world = new World();
      world.workspace("c", { requiredGroups });
      expect(world.told(user, PODS)[step]).to.equal(reason);
      expect((world.decide(user, PODS) as Decision & { final?: boolean }).final === true).to.equal(
        reason.startsWith("Denied"),
      );
    });

  it("are not checked without an existing logical cluster", () => {
    const world = new World();
    expect(world.told(ada, { ...PODS, cluster: "gone" })).to.deep.equal({
      [step]: "NoOpinion: logical cluster not found",
    });
    for (const cluster of ["*", ""])
      expect(world.told(ada, { ...PODS, cluster })).to.deep.equal({ [step]: "NoOpinion: empty cluster name" });
  });
});

describe("access to a workspace", () => {
  const step = "02-content";
  const bob = login("bob");
  const lifecycle = login("bob", { groups: ["system:kcp:initializer:root:tenant"] });
  const terminator = login("bob", { groups: ["system:kcp:terminator:root:tenant"] });
  const none = "NoOpinion: no verb=access permission on /";
  const allowed = "Allowed: lifecycle VW pre-authorized access";
  const phase = (of: string): Partial<LogicalClusterState> => ({ phase: of });
  const entered = (decision: string) => `${decision}: delegating due to user logical cluster access`;
  const rows: readonly [string, User, Partial<LogicalClusterState>, About, string][] = [
    ["its admin", ada, {}, PODS, entered("Allowed")],
    ["a user without access", bob, {}, PODS, none],
    ["a user with access and no other permissions", login("eve"), {}, PODS, entered("NoOpinion")],
    ["that user, for paths that all users may get", login("eve"), {}, { path: "/api" }, entered("Allowed")],
    ["a user without access, for those paths", bob, {}, { path: "/api" }, none],
    ["its admin in the phase Initializing", ada, phase("Initializing"), PODS, entered("Allowed")],
    ["its admin in the phase Inactive", ada, phase("Inactive"), PODS, entered("Allowed")],
    ["its admin in the phase Terminating", ada, phase("Terminating"), PODS, entered("Allowed")],
    ["its admin in the phase Deleting", ada, phase("Deleting"), PODS, entered("Allowed")],
    [
      "its admin in the phase Scheduling",
      ada,
      phase("Scheduling"),
      PODS,
      'NoOpinion: not permitted due to phase "Scheduling"',
    ],
    [
      "its admin in the phase Unavailable",
      ada,
      phase("Unavailable"),
      PODS,
      'NoOpinion: not permitted due to phase "Unavailable"',
    ],
    ["its admin without a phase", ada, phase(""), PODS, 'NoOpinion: not permitted due to phase ""'],
    [
      "kcp's admins in the phase Scheduling",
      login("x", { groups: ["system:kcp:admin"] }),
      phase("Scheduling"),
      PODS,
      'NoOpinion: not permitted due to phase "Scheduling"',
    ],
    ["an initializer in the phase Initializing", lifecycle, phase("Initializing"), PODS, allowed],
    ["an initializer in the phase Deleting", lifecycle, phase("Deleting"), PODS, allowed],
    ["a terminator in the phase Terminating", terminator, phase("Terminating"), PODS, allowed],
    ["an initializer in the phase Ready", lifecycle, {}, PODS, none],
    [
      "an initializer in the phase Scheduling",
      lifecycle,
      phase("Scheduling"),
      PODS,
      'NoOpinion: not permitted due to phase "Scheduling"',
    ],
    [
      "an initializer by warrant",
      login("bob", { extra: { "authorization.kcp.io/warrant": ['{"groups":["system:kcp:initializer:a"]}'] } }),
      phase("Initializing"),
      PODS,
      none,
    ],
    [
      "an initializer, for the status of a binding",
      lifecycle,
      phase("Initializing"),
      { group: "apis.kcp.io", resource: "apibindings", subresource: "status", verb: "update" },
      allowed,
    ],
    ["its service accounts", robot("x", "c"), {}, PODS, "NoOpinion: delegating due to local service account access"],
    [
      "its service accounts in the phase Initializing",
      robot("x", "c"),
      phase("Initializing"),
      PODS,
      "NoOpinion: delegating due to local service account access",
    ],
    [
      "service accounts without a cluster name",
      robot("x"),
      {},
      PODS,
      "NoOpinion: delegating due to local service account access",
    ],
    ["service accounts of another workspace", robot("x", "d"), {}, PODS, none],
    ["its service accounts, scoped elsewhere", robot("x", "c", { extra: scopes("d") }), {}, PODS, none],
    [
      "the scheduler",
      login("x", { groups: ["system:kcp:logical-cluster-admin"] }),
      phase("Scheduling"),
      { group: "core.kcp.io", resource: "logicalclusters", verb: "update" },
      "Allowed: delegating due to logical cluster admin access",
    ],
    ["a user who reads metrics", bob, {}, { path: "/metrics" }, "NoOpinion: delegating due to shard-level path"],
  ];
  for (const [who, user, state, about, reason] of rows)
    it(`is decided for ${who}`, () => {
      const world = new World();
      world.workspace("c", state);
      world.admit("c", person("eve"));
      expect(world.told(user, about)[step]).to.equal(reason);
      expect(world.may(user, about)).to.equal(reason.startsWith("Allowed"));
    });

  it("is denied finally if the workspace does not exist", () => {
    const world = new World();
    const there = robot("x", "gone");
    expect(world.told(there, { ...PODS, cluster: "gone" })[step]).to.equal("Denied: LogicalCluster not found");
    const scheduler = login("x", { groups: ["system:kcp:logical-cluster-admin"] });
    const create = { group: "core.kcp.io", resource: "logicalclusters", verb: "create", cluster: "gone" };
    expect(world.may(scheduler, create)).to.equal(true);
  });

  it("is denied to all users of system workspaces, also to kcp's admins", () => {
    const world = new World();
    world.clusters.set("system:admin", { phase: "Ready" });
    const admin = login("x", { groups: ["system:kcp:admin"] });
    expect(world.told(admin, { ...PODS, cluster: "system:admin" })).to.deep.equal({
      "01-requiredgroups": "NoOpinion: delegating due to logical cluster does not require groups",
      [step]: "NoOpinion: empty or system workspace",
    });
    expect(world.may(admin, PODS)).to.equal(true);
  });

  it("comes from ClusterRoleBindings of the workspace, replicated ones and those of system:admin, not from RoleBindings", () => {
    const world = new World();
    const about = { path: "/api" };
    world.bind("c", "ns", { to: "cluster-admin", subject: person("bob"), namespace: "default" });
    expect(world.may(bob, about)).to.equal(false);
    expect(world.may(bob, { ...PODS, namespace: "default" })).to.equal(false);
    world.elsewhere.set("c", {
      kind: "ClusterRoleBinding",
      metadata: { name: "far" },
      roleRef: { kind: "ClusterRole", name: "system:kcp:workspace:access" },
      subjects: [person("bob")],
    });
    expect(world.may(bob, about)).to.equal(true);
    expect(world.may(bob, { ...PODS, namespace: "default" })).to.equal(true);
    const shipped = login("s", { groups: ["everywhere"] });
    expect(world.may(shipped, about)).to.equal(false);
    world.bind("system:admin", "everywhere", { to: "system:kcp:workspace:access", subject: team("everywhere") });
    expect(world.may(shipped, about)).to.equal(true);
  });

  for (const [url, verb, enters] of [
    ["/", "access", true],
    ["*", "access", true],
    ["/*", "*", true],
    ["/api", "access", false],
    ["/", "get", false],
  ] as const)
    it(`is ${enters ? "" : "not "}granted by the verb ${verb} on ${url}`, () => {
      const world = new World();
      world.role("c", "r", { verbs: [verb], nonResourceURLs: [url] });
      world.bind("c", "r", { to: "r", subject: person("bob") });
      expect(world.may(bob, { path: "/version" })).to.equal(enters);
    });
});

describe("status of bindings and exports", () => {
  for (const [resource, reason] of [
    ["apibindings", "apibinding status updates not permitted"],
    ["apiexports", "apiexport status updates not permitted"],
  ] as const)
    it(`is reserved for the server: ${resource}, also for reads and in a deep review`, () => {
      const world = new World();
      const about = { group: "apis.kcp.io", resource, version: "v1alpha2", name: "x" };
      for (const verb of ["get", "update", "patch"]) {
        expect(world.told(ada, { ...about, verb, subresource: "status" })["03-systemcrd"]).to.equal(
          `Denied: ${reason}`,
        );
        expect(world.may(ada, { ...about, verb, subresource: "status" })).to.equal(false);
        expect(world.may(ada, { ...about, verb })).to.equal(true);
        expect(world.may(ada, { ...about, group: "other.dev", verb, subresource: "status" })).to.equal(true);
      }
      const question = { ...about, verb: "update", subresource: "status" };
      expect(world.decideDeep(ada, question)).to.include({ allowed: false, final: true });
    });

  it("of other resources requires a rule for the subresource", () => {
    const world = new World();
    world.role("c", "pods", READ_PODS);
    world.bind("c", "pods", { to: "pods", subject: person("bob") });
    world.admit("c", person("bob"));
    expect(world.may(login("bob"), PODS)).to.equal(true);
    expect(world.may(login("bob"), { ...PODS, subresource: "status" })).to.equal(false);
  });
});
