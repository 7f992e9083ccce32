// Why: maximal permission policies, and the deep reviews that skip them.
import type { User } from "@virtual-workspaces/framework";
import { expect } from "chai";
import { type About, bindingOf, HOME, login, person, robot, SCOPES, team, WARRANT, World } from "./world.ts";

const STEP = "04-maxpermissionpolicy";
const PREFIX = "apis.kcp.io:binding:";
const COWBOYS = { group: "wild.dev", resource: "cowboys", version: "v1" } as const;
const RULE = { verbs: ["get", "list"], apiGroups: ["wild.dev"], resources: ["cowboys"] };

/** `c` has bound cowboys of the export `wild` in `p`, which has a policy by default. */
function world(policy: boolean | "gone" = true): World {
  const made = new World();
  made.workspace("p");
  const exported = policy === "gone" ? undefined : { cluster: "p", name: "wild", policy };
  made.bound.set("c cowboys.wild.dev", { reference: { path: "root:p", name: "wild" }, export: exported });
  made.role("p", "max", RULE);
  return made;
}

const ada = login("ada");
const NO = (why = "") => `NoOpinion: API export "p"|"wild" policy: ${why}`;

describe("a maximal permission policy", () => {
  it("does not apply without a binding, an export or a policy", () => {
    for (const [made, about, reason] of [
      [world(), { group: "", resource: "pods" }, "no relevant binding found"],
      [world(), { path: "/api" }, "no relevant binding found"],
      [world("gone"), COWBOYS, 'APIExport "root:p":"wild" not found'],
      [world(false), COWBOYS, 'no local maximum permission policy in API Export "p"|"wild"'],
    ] as const) {
      expect(made.told(ada, about)[STEP]).to.equal(`Allowed: delegating due to ${reason}`);
      expect(made.may(ada, about)).to.equal(true);
    }
  });

  it("denies all users that it does not name with the prefix, also workspace admins", () => {
    const made = world();
    expect(made.told(ada, COWBOYS)[STEP]).to.equal(NO());
    made.bind("p", "plain", { to: "max", subject: person("ada") });
    expect(made.may(ada, COWBOYS)).to.equal(false);
    made.bind("p", "max", { to: "max", subject: person(`${PREFIX}ada`) });
    const by = `RBAC: allowed by ClusterRoleBinding "max" of ClusterRole "max" to User "${PREFIX}ada"`;
    expect(made.told(ada, COWBOYS)[STEP]).to.equal(`Allowed: delegating due to API export "p"|"wild" policy: ${by}`);
    expect(made.may(ada, COWBOYS)).to.equal(true);
    for (const about of [{ verb: "delete" }, { subresource: "status" }, { verb: "*" }])
      expect(made.may(ada, { ...COWBOYS, ...about })).to.equal(false);
  });

  it("grants nothing by itself", () => {
    const made = world();
    made.bind("p", "max", { to: "max", subject: team(`${PREFIX}system:authenticated`) });
    made.admit("c", person("bob"));
    expect(made.may(login("bob"), COWBOYS)).to.equal(false);
    expect(made.told(login("bob"), COWBOYS)[STEP]).to.match(/^NoOpinion: delegating due to API export/);
  });

  it("may apply to one namespace, but RoleBindings of bootstrap roles do not count", () => {
    const made = world();
    made.policies.set("p", bindingOf("ns", { to: "max", subject: person(`${PREFIX}ada`), namespace: "here" }));
    made.policies.set(
      "system:admin",
      bindingOf("ns", { to: "max", subject: person(`${PREFIX}ada`), namespace: "there" }),
    );
    const may = ["here", "there", ""].map((namespace) => made.may(ada, { ...COWBOYS, namespace }));
    expect(may).to.deep.equal([true, false, false]);
  });

  it("may be replicated from another shard, and refer to bootstrap roles", () => {
    const made = world();
    made.elsewhere.set("p", bindingOf("far", { to: "max", subject: person(`${PREFIX}ada`) }));
    expect(made.may(ada, COWBOYS)).to.equal(true);
    const eve = login("eve");
    made.bind("c", "eve", { to: "cluster-admin", subject: person("eve") });
    expect(made.may(eve, COWBOYS)).to.equal(false);
    made.bind("p", "all", { to: "cluster-admin", subject: person(`${PREFIX}eve`) });
    expect(made.may(eve, { ...COWBOYS, verb: "delete" })).to.equal(true);
    const bootstrapper = login("b", { groups: ["system:kcp:tenancy:workspace-bootstrapper"] });
    made.bind("c", "b", { to: "cluster-admin", subject: person("b") });
    expect(made.may(bootstrapper, { ...COWBOYS, verb: "delete" })).to.equal(true);
  });

  it("reports a missing role", () => {
    const made = world();
    made.bind("p", "lost", { to: "gone", subject: person(`${PREFIX}ada`) });
    expect(made.told(ada, COWBOYS)[STEP]).to.equal(NO('RBAC: clusterrole.rbac.authorization.k8s.io "gone" not found'));
  });

  const authenticated = `${PREFIX}system:authenticated`;
  const rows: readonly [string, User, string, boolean][] = [
    ["a group", login("ada", { groups: ["g"] }), `${PREFIX}g`, true],
    ["every user", ada, authenticated, true],
    ["every user without the prefix", ada, "system:authenticated", false],
    ["a user scoped to the workspace", login("ada", { extra: { [SCOPES]: ["cluster:c"] } }), authenticated, true],
    [
      "a user out of scope with a warrant",
      login("x", { extra: { [SCOPES]: ["cluster:d"], [WARRANT]: ['{"user":"ada"}'] } }),
      authenticated,
      false,
    ],
    [
      "a user out of scope with a warrant for the group",
      login("x", { extra: { [SCOPES]: ["cluster:d"], [WARRANT]: ['{"user":"ada","groups":["g"]}'] } }),
      `${PREFIX}g`,
      true,
    ],
    [
      "a warrant in a warrant",
      login("ada", {
        extra: { [WARRANT]: [JSON.stringify({ user: "y", extra: { [WARRANT]: ['{"groups":["g"]}'] } })] },
      }),
      `${PREFIX}g`,
      true,
    ],
    ["a service account's group", robot("x", "c"), `${PREFIX}system:serviceaccounts`, true],
    ["a foreign service account", robot("x", "d"), authenticated, true],
    ["a service account without a cluster name", robot("x"), authenticated, true],
    ["the groups of a service account without a cluster name", robot("x"), `${PREFIX}system:serviceaccounts`, false],
    [
      "the groups of a service account with two cluster names",
      robot("x", "c", { extra: { [HOME]: ["c", "d"] } }),
      `${PREFIX}system:serviceaccounts`,
      false,
    ],
  ];
  for (const [what, user, group, passes] of rows)
    it(`${passes ? "lets" : "does not let"} ${what} use the resource if bound to ${group}`, () => {
      const made = world();
      made.bind("p", "max", { to: "max", subject: team(group) });
      made.bind("c", "all", { to: "cluster-admin", subject: team("system:authenticated") });
      made.bind("c", "none", { to: "cluster-admin", subject: team("system:unauthenticated") });
      expect(made.may(user, COWBOYS)).to.equal(passes);
    });

  it("names service accounts by their global name, and ignores subjects of the kind ServiceAccount", () => {
    const made = world();
    made.bind("c", "all", { to: "cluster-admin", subject: team("system:authenticated") });
    made.bind("p", "max", { to: "max", subject: person(`${PREFIX}system:kcp:serviceaccount:c:default:x`) });
    made.bind("p", "sa", { to: "max", subject: { kind: "ServiceAccount", name: "y", namespace: "default" } });
    expect(made.may(robot("x", "c"), COWBOYS)).to.equal(true);
    expect(made.may(robot("x", "d"), COWBOYS)).to.equal(false);
    expect(made.may(robot("y", "c"), COWBOYS)).to.equal(false);
  });
});

describe("a deep review", () => {
  const stranger = login("eve");
  const about: About = { ...COWBOYS, verb: "get" };

  it("returns RBAC's decision, without access to the workspace or the exporter's policy", () => {
    const made = world();
    made.workspace("c", { requiredGroups: "nobody", phase: "Scheduling" });
    made.role("c", "r", RULE);
    made.bind("c", "r", { to: "r", subject: person("eve") });
    expect(made.may(stranger, about)).to.equal(false);
    expect(made.decideDeep(stranger, about).allowed).to.equal(true);
    expect(made.decideDeep(stranger, { ...about, verb: "delete" }).allowed).to.equal(false);
    expect(made.decideDeep(stranger, { ...about, cluster: "gone" }).allowed).to.equal(false);
    const deep = Object.keys(made.decideDeep(stranger, about).annotations ?? {});
    expect(deep).to.include("sar.auth.kcp.io/01-requiredgroups-decision");
  });

  it("does not skip the guards for requests about reviews, nor in system workspaces", () => {
    const made = world();
    made.role("c", "r", { verbs: ["create"], apiGroups: ["*"], resources: ["*"] });
    made.bind("c", "r", { to: "r", subject: person("eve") });
    const review = { group: "authorization.k8s.io", resource: "subjectaccessreviews", verb: "create" };
    expect(made.decideDeep(stranger, review).allowed).to.equal(false);
    expect(made.decideDeep(stranger, { ...review, group: "x.dev" }).allowed).to.equal(true);
    const admin = login("x", { groups: ["system:kcp:admin"] });
    expect(made.decideDeep(admin, { ...about, cluster: "system:admin" }).allowed).to.equal(false);
  });
});
