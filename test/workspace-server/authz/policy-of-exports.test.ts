// Maximal permission policies, and reviews that skip them.
import type { User } from "@virtual-workspaces/framework";
import { expect } from "chai";
import { type About, bindingOf, HOME, login, person, robot, SCOPES, team, WARRANT, World } from "./world.ts";

const STEP = "04-maxpermissionpolicy";
const PREFIX = "apis.kcp.io:binding:";
const COWBOYS = { group: "wild.dev", resource: "cowboys", version: "v1" } as const;
const RULE = { verbs: ["get", "list"], apiGroups: ["wild.dev"], resources: ["cowboys"] };

/** `C` has bound cowboys of the export `wild` in `P`, which has a policy unless it says so. */
function world(policy: boolean | "gone" = true): World {
  const made = new World();
  made.workspace("P");
  const exported = policy === "gone" ? undefined : { cluster: "P", name: "wild", policy };
  made.bound.set("C cowboys.wild.dev", { reference: { path: "root:p", name: "wild" }, export: exported });
  made.role("P", "max", RULE);
  return made;
}

const ada = login("ada");
const NO = (why = "") => `NoOpinion: API export "P"|"wild" policy: ${why}`;

describe("a maximal permission policy", () => {
  it("is nobody's business where nothing is bound, there is no export, or it has no policy", () => {
    for (const [made, about, reason] of [
      [world(), { group: "", resource: "pods" }, "no relevant binding found"],
      [world(), { path: "/api" }, "no relevant binding found"],
      [world("gone"), COWBOYS, 'APIExport "root:p":"wild" not found'],
      [world(false), COWBOYS, 'no local maximum permission policy in API Export "P"|"wild"'],
    ] as const) {
      expect(made.told(ada, about)[STEP]).to.equal(`Allowed: delegating due to ${reason}`);
      expect(made.may(ada, about)).to.equal(true);
    }
  });

  it("refuses all whom it does not name, admins of their workspace too, and names them with a prefix", () => {
    const made = world();
    expect(made.told(ada, COWBOYS)[STEP]).to.equal(NO());
    made.bind("P", "plain", { to: "max", subject: person("ada") });
    expect(made.may(ada, COWBOYS)).to.equal(false);
    made.bind("P", "max", { to: "max", subject: person(`${PREFIX}ada`) });
    const by = `RBAC: allowed by ClusterRoleBinding "max" of ClusterRole "max" to User "${PREFIX}ada"`;
    expect(made.told(ada, COWBOYS)[STEP]).to.equal(`Allowed: delegating due to API export "P"|"wild" policy: ${by}`);
    expect(made.may(ada, COWBOYS)).to.equal(true);
    for (const about of [{ verb: "delete" }, { subresource: "status" }, { verb: "*" }])
      expect(made.may(ada, { ...COWBOYS, ...about })).to.equal(false);
  });

  it("gives nothing by itself", () => {
    const made = world();
    made.bind("P", "max", { to: "max", subject: team(`${PREFIX}system:authenticated`) });
    made.admit("C", person("bob"));
    expect(made.may(login("bob"), COWBOYS)).to.equal(false);
    expect(made.told(login("bob"), COWBOYS)[STEP]).to.match(/^NoOpinion: delegating due to API export/);
  });

  it("may be for one namespace, but no shipped binding is", () => {
    const made = world();
    made.policies.set("P", bindingOf("ns", { to: "max", subject: person(`${PREFIX}ada`), namespace: "here" }));
    made.policies.set("system:admin", bindingOf("ns", { to: "max", subject: person(`${PREFIX}ada`), namespace: "there" }));
    const may = ["here", "there", ""].map((namespace) => made.may(ada, { ...COWBOYS, namespace }));
    expect(may).to.deep.equal([true, false, false]);
  });

  it("may be replicated from another shard, and name shipped roles", () => {
    const made = world();
    made.elsewhere.set("P", bindingOf("far", { to: "max", subject: person(`${PREFIX}ada`) }));
    expect(made.may(ada, COWBOYS)).to.equal(true);
    const eve = login("eve");
    made.bind("C", "eve", { to: "cluster-admin", subject: person("eve") });
    expect(made.may(eve, COWBOYS)).to.equal(false);
    made.bind("P", "all", { to: "cluster-admin", subject: person(`${PREFIX}eve`) });
    expect(made.may(eve, { ...COWBOYS, verb: "delete" })).to.equal(true);
    const bootstrapper = login("b", { groups: ["system:kcp:tenancy:workspace-bootstrapper"] });
    made.bind("C", "b", { to: "cluster-admin", subject: person("b") });
    expect(made.may(bootstrapper, { ...COWBOYS, verb: "delete" })).to.equal(true);
  });

  it("says which role is not there", () => {
    const made = world();
    made.bind("P", "lost", { to: "gone", subject: person(`${PREFIX}ada`) });
    expect(made.told(ada, COWBOYS)[STEP]).to.equal(NO('RBAC: clusterrole.rbac.authorization.k8s.io "gone" not found'));
  });

  const authenticated = `${PREFIX}system:authenticated`;
  const rows: readonly [string, User, string, boolean][] = [
    ["a group", login("ada", { groups: ["g"] }), `${PREFIX}g`, true],
    ["everybody", ada, authenticated, true],
    ["everybody, without prefix", ada, "system:authenticated", false],
    ["somebody scoped to the workspace", login("ada", { extra: { [SCOPES]: ["cluster:C"] } }), authenticated, true],
    ["somebody out of scope, who has a warrant", login("x", { extra: { [SCOPES]: ["cluster:D"], [WARRANT]: ['{"user":"ada"}'] } }), authenticated, false],
    ["the same whose warrant it names", login("x", { extra: { [SCOPES]: ["cluster:D"], [WARRANT]: ['{"user":"ada","groups":["g"]}'] } }), `${PREFIX}g`, true],
    ["a warrant in a warrant", login("ada", { extra: { [WARRANT]: [JSON.stringify({ user: "y", extra: { [WARRANT]: ['{"groups":["g"]}'] } })] } }), `${PREFIX}g`, true],
    ["a service account's group", robot("x", "C"), `${PREFIX}system:serviceaccounts`, true],
    ["a foreign service account", robot("x", "D"), authenticated, true],
    ["a service account that does not say whose", robot("x"), authenticated, true],
    ["the groups of such a one", robot("x"), `${PREFIX}system:serviceaccounts`, false],
    ["the groups of one that says so twice", robot("x", "C", { extra: { [HOME]: ["C", "D"] } }), `${PREFIX}system:serviceaccounts`, false],
  ]; // prettier-ignore
  for (const [what, user, group, passes] of rows)
    it(`${passes ? "lets" : "does not let"} ${what} pass that is bound to ${group}`, () => {
      const made = world();
      made.bind("P", "max", { to: "max", subject: team(group) });
      made.bind("C", "all", { to: "cluster-admin", subject: team("system:authenticated") });
      made.bind("C", "none", { to: "cluster-admin", subject: team("system:unauthenticated") });
      expect(made.may(user, COWBOYS)).to.equal(passes);
    });

  it("knows service accounts by their name for other workspaces, and no subject of that kind", () => {
    const made = world();
    made.bind("C", "all", { to: "cluster-admin", subject: team("system:authenticated") });
    made.bind("P", "max", { to: "max", subject: person(`${PREFIX}system:kcp:serviceaccount:C:default:x`) });
    made.bind("P", "sa", { to: "max", subject: { kind: "ServiceAccount", name: "y", namespace: "default" } });
    expect(made.may(robot("x", "C"), COWBOYS)).to.equal(true);
    expect(made.may(robot("x", "D"), COWBOYS)).to.equal(false);
    expect(made.may(robot("y", "C"), COWBOYS)).to.equal(false);
  });
});

describe("a deep review", () => {
  const stranger = login("eve");
  const about: About = { ...COWBOYS, verb: "get" };

  it("asks what RBAC says, whether or not the user may enter, and whatever the exporter allows", () => {
    const made = world();
    made.workspace("C", { requiredGroups: "nobody", phase: "Scheduling" });
    made.role("C", "r", RULE);
    made.bind("C", "r", { to: "r", subject: person("eve") });
    expect(made.may(stranger, about)).to.equal(false);
    expect(made.decideDeep(stranger, about).allowed).to.equal(true);
    expect(made.decideDeep(stranger, { ...about, verb: "delete" }).allowed).to.equal(false);
    expect(made.decideDeep(stranger, { ...about, cluster: "gone" }).allowed).to.equal(false);
    const deep = Object.keys(made.decideDeep(stranger, about).annotations ?? {});
    expect(deep).to.include("sar.auth.kcp.io/01-requiredgroups-decision");
  });

  it("stays in place with questions about reviews, and out of system workspaces", () => {
    const made = world();
    made.role("C", "r", { verbs: ["create"], apiGroups: ["*"], resources: ["*"] });
    made.bind("C", "r", { to: "r", subject: person("eve") });
    const review = { group: "authorization.k8s.io", resource: "subjectaccessreviews", verb: "create" };
    expect(made.decideDeep(stranger, review).allowed).to.equal(false);
    expect(made.decideDeep(stranger, { ...review, group: "x.dev" }).allowed).to.equal(true);
    const admin = login("x", { groups: ["system:kcp:admin"] });
    expect(made.decideDeep(admin, { ...about, cluster: "system:admin" }).allowed).to.equal(false);
  });
});
