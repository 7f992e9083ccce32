// Scopes, warrants and service accounts: whose bindings count, in which workspace.
import type { Identity, User } from "@virtual-workspaces/framework";
import { effectiveUsers, isInScope } from "@virtual-workspaces/workspace-server";
import { expect } from "chai";
import { account, bare, HOME, login, PODS, person, READ_PODS, robot, SCOPES, team, WARRANT, World } from "./world.ts";

const NAMESPACES = { group: "", resource: "namespaces", name: "default", namespace: "default" } as const;
const ADMIN = "system:kcp:admin";
const warrant = (of: object): string => JSON.stringify(of);

describe("scopes and warrants of kcp's admins", () => {
  const rows: readonly [string, User, boolean][] = [
    ["no scope", login("a", { groups: [ADMIN] }), true],
    ["the scope", login("a", { groups: [ADMIN], extra: { [SCOPES]: ["cluster:C"] } }), true],
    ["the scope among others", login("a", { groups: [ADMIN], extra: { [SCOPES]: ["cluster:C,cluster:another"] } }), true],
    ["the scope, and one without it", login("a", { groups: [ADMIN], extra: { [SCOPES]: ["cluster:C", "cluster:another"] } }), false],
    ["another scope", login("a", { groups: [ADMIN], extra: { [SCOPES]: ["cluster:root"] } }), false],
    ["a scope with a space", login("a", { groups: [ADMIN], extra: { [SCOPES]: ["cluster:root, cluster:C"] } }), false],
    ["a scope of an unknown kind", login("a", { groups: [ADMIN], extra: { [SCOPES]: ["workspace:C"] } }), false],
    ["an empty scope", login("a", { groups: [ADMIN], extra: { [SCOPES]: [""] } }), false],
    ["a longer scope", login("a", { groups: [ADMIN], extra: { [SCOPES]: ["cluster:C2"] } }), false],
    ["another home, which is no scope", login("a", { groups: [ADMIN], extra: { [HOME]: ["other"] } }), true],
    ["a warrant", bare("u", { extra: { [HOME]: ["other"], [WARRANT]: [warrant({ user: "user2", groups: [ADMIN] })] } }), true],
    ["a warrant, out of scope themselves", bare("u", { extra: { [SCOPES]: ["cluster:D"], [WARRANT]: [warrant({ groups: [ADMIN] })] } }), true],
    ["a warrant out of scope", bare("u", { extra: { [WARRANT]: [warrant({ groups: [ADMIN], extra: { [SCOPES]: ["cluster:D"] } })] } }), false],
    ["a service account", robot("x", undefined, { groups: [ADMIN] }), true],
    ["a service account of the workspace", robot("x", "C", { groups: [ADMIN] }), true],
    ["a service account of another", robot("x", "other", { groups: [ADMIN] }), false],
    ["a service account of two", robot("x", "C", { groups: [ADMIN], extra: { [HOME]: ["C", "other"] } }), false],
    ["a service account of another with a warrant", robot("x", "other", { groups: [ADMIN], extra: { [WARRANT]: [warrant({ user: "user2", groups: [ADMIN] })] } }), true],
  ]; // prettier-ignore
  for (const [what, user, allowed] of rows)
    it(`with ${what} ${allowed ? "are" : "are none"}`, () => {
      expect(new World().may(user, NAMESPACES)).to.equal(allowed);
    });
});

describe("whose bindings count", () => {
  const anonymous = (...groups: readonly string[]) => ({ name: "system:anonymous", groups });
  const named = (name: string, ...groups: readonly string[]) => ({ name, groups });
  const AUTH = "system:authenticated";
  const UNAUTH = "system:unauthenticated";
  const everywhere = (home: string, ...groups: readonly string[]) =>
    named(`system:kcp:serviceaccount:${home}:default:robot`, ...groups);
  const robots = ["system:serviceaccounts", "system:serviceaccounts:default", AUTH];
  const self = named("system:serviceaccount:default:robot", ...robots);
  const rows: readonly [string, Identity, readonly object[]][] = [
    ["somebody", bare("u", { groups: ["g"] }), [named("u", "g")]],
    ["an out of scope user", login("u", { extra: { [SCOPES]: ["cluster:D"] } }), [anonymous(AUTH, "system:cluster:D")]],
    ["one who has not logged in", bare("u", { extra: { [SCOPES]: ["cluster:D"] } }), [anonymous(UNAUTH, "system:cluster:D")]],
    ["one of several", login("u", { extra: { [SCOPES]: ["cluster:D,cluster:E"] } }), [anonymous(AUTH, "system:cluster:D", "system:cluster:E")]],
    ["an intersection", login("u", { extra: { [SCOPES]: ["cluster:D,cluster:E", "cluster:E,cluster:F"] } }), [anonymous(AUTH, "system:cluster:E")]],
    ["nothing in common", login("u", { extra: { [SCOPES]: ["cluster:D", "cluster:E"] } }), [anonymous(AUTH)]],
    ["C beside another", login("u", { extra: { [SCOPES]: ["cluster:C", "cluster:E"] } }), [anonymous(AUTH)]],
    ["a claimed group of a cluster", login("u", { groups: ["system:cluster:E"], extra: { [SCOPES]: ["cluster:D"] } }), [anonymous(AUTH, "system:cluster:D")]],
    ["a user of D", login("u", { extra: { [SCOPES]: ["cluster:D"], [HOME]: ["D"] } }), [anonymous(AUTH, "system:cluster:D")]],
    ["a user of D who says E", login("u", { extra: { [SCOPES]: ["cluster:D"], [HOME]: ["E"] } }), [anonymous(AUTH, "system:cluster:D")]],
    ["a service account", robot(), [self]],
    ["a service account of C", robot("robot", "C"), [self, everywhere("C", AUTH)]],
    ["a service account of D", robot("robot", "D"), [anonymous(AUTH, "system:cluster:D"), everywhere("D", AUTH)]],
    ["one of D and E", robot("robot", "D", { extra: { [HOME]: ["D", "E"] } }), [anonymous(AUTH)]],
    ["one of D, within C", robot("robot", "D", { extra: { [SCOPES]: ["cluster:C"] } }), [anonymous(AUTH), everywhere("D", AUTH)]],
    ["one of D, within D", robot("robot", "D", { extra: { [SCOPES]: ["cluster:D"] } }), [anonymous(AUTH, "system:cluster:D"), everywhere("D", AUTH)]],
    ["one of D that somebody made up in E", robot("robot", "D", { extra: { [SCOPES]: ["cluster:E"] } }), [anonymous(AUTH)]],
    ["a warrant", bare("u", { extra: { [WARRANT]: [warrant({ user: "v", groups: ["h"] })] } }), [named("u"), named("v", "h")]],
    ["two warrants", bare("u", { extra: { [WARRANT]: [warrant({ user: "v" }), warrant({ user: "w" })] } }), [named("u"), named("v"), named("w")]],
    ["a nested warrant", bare("u", { extra: { [WARRANT]: [warrant({ user: "v", extra: { [WARRANT]: [warrant({ user: "w" })] } })] } }), [named("u"), named("v"), named("w")]],
    ["a warrant with scopes", bare("u", { extra: { [WARRANT]: [warrant({ user: "v", extra: { [SCOPES]: ["cluster:D"] } })] } }), [named("u"), anonymous(UNAUTH, "system:cluster:D")]],
    ["a warrant for an account of C", bare("u", { extra: { [WARRANT]: [warrant({ user: "system:serviceaccount:default:robot", extra: { [HOME]: ["C"] } })] } }), [named("u"), named(self.name), everywhere("C")]],
    ["a warrant for an account of D", bare("u", { extra: { [WARRANT]: [warrant({ user: "system:serviceaccount:default:robot", extra: { [HOME]: ["D"] } })] } }), [named("u"), anonymous(UNAUTH, "system:cluster:D"), everywhere("D")]],
    ["a warrant for nobody's account", bare("u", { extra: { [WARRANT]: [warrant({ user: "system:serviceaccount:default:robot" })] } }), [named("u")]],
    ["a warrant for an account with a scope", bare("u", { extra: { [WARRANT]: [warrant({ user: "system:serviceaccount:default:robot", extra: { [SCOPES]: ["cluster:C"] } })] } }), [named("u")]],
    ["warrants that are none", bare("u", { extra: { [WARRANT]: ["", "{", "null", "[]", "7", '{"user":7}', '{"groups":"g"}', '{"groups":[7]}', '{"extra":{"authentication.kcp.io/scopes":"cluster:C"}}', '{"extra":[]}'] } }), [named("u")]],
    ["a warrant with nulls", bare("u", { extra: { [WARRANT]: ['{"user":"v","groups":null,"extra":null,"uid":null}'] } }), [named("u"), named("v")]],
  ]; // prettier-ignore
  for (const [whom, identity, expected] of rows)
    it(`of ${whom}`, () => {
      const found = effectiveUsers(identity, "C").map(({ name, groups }) => ({ name, groups: [...groups] }));
      expect(found).to.deep.equal(expected);
    });

  it("counts a scope by its logical cluster", () => {
    const scoped = login("u", { extra: { [SCOPES]: ["cluster:C,cluster:D", "cluster:D"] } });
    expect(["C", "D", "E", ""].map((cluster) => isInScope(scoped, cluster))).to.deep.equal([false, true, false, false]);
  });

  it("ends, however deep warrants are", () => {
    let text = warrant({ user: "inner" });
    for (let depth = 0; depth < 12; depth++) text = warrant({ user: `u${depth}`, extra: { [WARRANT]: [text] } });
    expect(text.length).to.be.above(8_000);
    expect(effectiveUsers(bare("u", { extra: { [WARRANT]: [text] } }), "C")).to.have.length(14);
  });
});

describe("service accounts", () => {
  it("have rights by their name at home, and elsewhere not under it, though there is one of that name", () => {
    const world = new World();
    world.workspace("D");
    for (const cluster of ["C", "D"]) {
      world.role(cluster, "pods", READ_PODS);
      world.bind(cluster, "pods", { to: "pods", subject: account("robot") });
    }
    expect(["C", "D"].map((cluster) => world.may(robot("robot", "C"), { ...PODS, cluster }))).to.deep.equal([true, false]);
    expect(world.may(robot("robot", "C"), { ...PODS, namespace: "default" })).to.equal(true);
    world.admit("D", team("system:authenticated"));
    expect(world.may(robot("robot", "C"), { ...PODS, cluster: "D" })).to.equal(false);
    world.bind("D", "all", { to: "pods", subject: team("system:serviceaccounts") });
    expect(world.may(robot("robot", "C"), { ...PODS, cluster: "D" })).to.equal(false);
  });

  for (const subject of [
    team("system:authenticated"),
    person("system:kcp:serviceaccount:C:default:robot"),
    team("system:cluster:C"),
  ])
    it(`work elsewhere where ${subject.kind} ${subject.name} does`, () => {
      const world = new World();
      world.workspace("D");
      world.role("D", "pods", READ_PODS);
      world.admit("D", subject);
      world.bind("D", "pods", { to: "pods", subject });
      expect(world.may(robot("robot", "C"), { ...PODS, cluster: "D" })).to.equal(true);
      expect(world.may(robot("robot", "C"), { ...PODS, cluster: "D", verb: "list" })).to.equal(false);
      expect(world.may(robot("robot", "E"), { ...PODS, cluster: "D" })).to.equal(subject.name === "system:authenticated");
      expect(world.may(robot("other", "C"), { ...PODS, cluster: "D" })).to.equal(subject.kind === "Group");
    });
});

describe("whoever comes from a workspace", () => {
  it("may bind where its group may, and under no other name or group of theirs", () => {
    const world = new World();
    world.workspace("P");
    world.role("P", "bind", { verbs: ["bind"], apiGroups: ["apis.kcp.io"], resources: ["apiexports"] });
    world.bind("P", "bind", { to: "bind", subject: team("system:cluster:C") });
    const bind = { cluster: "P", group: "apis.kcp.io", resource: "apiexports", name: "today", verb: "bind" };
    const of = (extra: Identity["extra"], groups: readonly string[] = []) =>
      world.decideDeep(login("u", { groups, extra }), bind).allowed;
    expect(of({ [SCOPES]: ["cluster:C"], [HOME]: ["C"] })).to.equal(true);
    expect(of({ [SCOPES]: ["cluster:C", "cluster:C"] })).to.equal(true);
    expect(of({ [SCOPES]: ["cluster:C"], [WARRANT]: [warrant({ user: "v" })] })).to.equal(true);
    expect(of({ [WARRANT]: [warrant({ user: "v", extra: { [SCOPES]: ["cluster:C"] } })] })).to.equal(true);
    expect(of({})).to.equal(false);
    expect(of({ [HOME]: ["C"] })).to.equal(false);
    expect(of({ [SCOPES]: ["cluster:D"], [HOME]: ["C"] })).to.equal(false);
    expect(of({ [SCOPES]: ["cluster:D"] }, ["system:cluster:C"])).to.equal(false);
    expect(world.decideDeep(robot("x", "C"), bind).allowed).to.equal(true);
    expect(world.decideDeep(robot("x", "C", { extra: { [SCOPES]: ["cluster:D"] } }), bind).allowed).to.equal(false);
  });
});
