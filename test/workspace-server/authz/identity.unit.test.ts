// Why: scopes, warrants and service accounts determine whose bindings count in which workspace.
import type { Identity, User } from "@virtual-workspaces/framework";
import { expect } from "chai";
import { effectiveUsers, isInScope } from "../../../packages/workspace-server/src/authz/effective-users.ts";
import { account, bare, HOME, login, PODS, person, READ_PODS, robot, SCOPES, team, WARRANT, World } from "./world.ts";

const NAMESPACES = { group: "", resource: "namespaces", name: "default", namespace: "default" } as const;
const ADMIN = "system:kcp:admin";
const warrant = (of: object): string => JSON.stringify(of);

describe("kcp's admins", () => {
  const rows: readonly [string, User, boolean][] = [
    ["no scope", login("a", { groups: [ADMIN] }), true],
    ["the scope", login("a", { groups: [ADMIN], extra: { [SCOPES]: ["cluster:c"] } }), true],
    [
      "the scope among others",
      login("a", { groups: [ADMIN], extra: { [SCOPES]: ["cluster:c,cluster:another"] } }),
      true,
    ],
    [
      "the scope, and one without it",
      login("a", { groups: [ADMIN], extra: { [SCOPES]: ["cluster:c", "cluster:another"] } }),
      false,
    ],
    ["another scope", login("a", { groups: [ADMIN], extra: { [SCOPES]: ["cluster:root"] } }), false],
    ["a scope with a space", login("a", { groups: [ADMIN], extra: { [SCOPES]: ["cluster:root, cluster:c"] } }), false],
    ["a scope of an unknown kind", login("a", { groups: [ADMIN], extra: { [SCOPES]: ["workspace:c"] } }), false],
    ["an empty scope", login("a", { groups: [ADMIN], extra: { [SCOPES]: [""] } }), false],
    ["a longer scope", login("a", { groups: [ADMIN], extra: { [SCOPES]: ["cluster:c2"] } }), false],
    ["another cluster name, which is not a scope", login("a", { groups: [ADMIN], extra: { [HOME]: ["other"] } }), true],
    [
      "a warrant",
      bare("u", { extra: { [HOME]: ["other"], [WARRANT]: [warrant({ user: "user2", groups: [ADMIN] })] } }),
      true,
    ],
    [
      "a warrant, for a user out of scope",
      bare("u", { extra: { [SCOPES]: ["cluster:d"], [WARRANT]: [warrant({ groups: [ADMIN] })] } }),
      true,
    ],
    [
      "a warrant out of scope",
      bare("u", { extra: { [WARRANT]: [warrant({ groups: [ADMIN], extra: { [SCOPES]: ["cluster:d"] } })] } }),
      false,
    ],
    ["a service account", robot("x", undefined, { groups: [ADMIN] }), true],
    ["a service account of the workspace", robot("x", "c", { groups: [ADMIN] }), true],
    ["a service account of another", robot("x", "other", { groups: [ADMIN] }), false],
    ["a service account of two", robot("x", "c", { groups: [ADMIN], extra: { [HOME]: ["c", "other"] } }), false],
    [
      "a service account of another with a warrant",
      robot("x", "other", { groups: [ADMIN], extra: { [WARRANT]: [warrant({ user: "user2", groups: [ADMIN] })] } }),
      true,
    ],
  ];
  for (const [what, user, allowed] of rows)
    it(`with ${what} are ${allowed ? "allowed" : "denied"}`, () => {
      expect(new World().may(user, NAMESPACES)).to.equal(allowed);
    });
});

describe("effective users", () => {
  const anonymous = (...groups: readonly string[]) => ({ name: "system:anonymous", groups });
  const named = (name: string, ...groups: readonly string[]) => ({ name, groups });
  const AUTH = "system:authenticated";
  const UNAUTH = "system:unauthenticated";
  const everywhere = (home: string, ...groups: readonly string[]) =>
    named(`system:kcp:serviceaccount:${home}:default:robot`, ...groups);
  const robots = ["system:serviceaccounts", "system:serviceaccounts:default", AUTH];
  const self = named("system:serviceaccount:default:robot", ...robots);
  const rows: readonly [string, Identity, readonly object[]][] = [
    ["a user without extras", bare("u", { groups: ["g"] }), [named("u", "g")]],
    ["an out of scope user", login("u", { extra: { [SCOPES]: ["cluster:d"] } }), [anonymous(AUTH, "system:cluster:d")]],
    [
      "an unauthenticated user out of scope",
      bare("u", { extra: { [SCOPES]: ["cluster:d"] } }),
      [anonymous(UNAUTH, "system:cluster:d")],
    ],
    [
      "a user scoped to several workspaces",
      login("u", { extra: { [SCOPES]: ["cluster:d,cluster:e"] } }),
      [anonymous(AUTH, "system:cluster:d", "system:cluster:e")],
    ],
    [
      "a user with overlapping scopes",
      login("u", { extra: { [SCOPES]: ["cluster:d,cluster:e", "cluster:e,cluster:f"] } }),
      [anonymous(AUTH, "system:cluster:e")],
    ],
    ["a user with disjoint scopes", login("u", { extra: { [SCOPES]: ["cluster:d", "cluster:e"] } }), [anonymous(AUTH)]],
    [
      "a user with disjoint scopes, one of them c",
      login("u", { extra: { [SCOPES]: ["cluster:c", "cluster:e"] } }),
      [anonymous(AUTH)],
    ],
    [
      "a claimed group of a cluster",
      login("u", { groups: ["system:cluster:e"], extra: { [SCOPES]: ["cluster:d"] } }),
      [anonymous(AUTH, "system:cluster:d")],
    ],
    [
      "a user of d",
      login("u", { extra: { [SCOPES]: ["cluster:d"], [HOME]: ["d"] } }),
      [anonymous(AUTH, "system:cluster:d")],
    ],
    [
      "a user of d who claims e",
      login("u", { extra: { [SCOPES]: ["cluster:d"], [HOME]: ["e"] } }),
      [anonymous(AUTH, "system:cluster:d")],
    ],
    ["a service account", robot(), [self]],
    ["a service account of c", robot("robot", "c"), [self, everywhere("c", AUTH)]],
    ["a service account of d", robot("robot", "d"), [anonymous(AUTH, "system:cluster:d"), everywhere("d", AUTH)]],
    ["a service account of d and e", robot("robot", "d", { extra: { [HOME]: ["d", "e"] } }), [anonymous(AUTH)]],
    [
      "a service account of d, scoped to c",
      robot("robot", "d", { extra: { [SCOPES]: ["cluster:c"] } }),
      [anonymous(AUTH), everywhere("d", AUTH)],
    ],
    [
      "a service account of d, scoped to d",
      robot("robot", "d", { extra: { [SCOPES]: ["cluster:d"] } }),
      [anonymous(AUTH, "system:cluster:d"), everywhere("d", AUTH)],
    ],
    [
      "a service account of d, impersonated in e",
      robot("robot", "d", { extra: { [SCOPES]: ["cluster:e"] } }),
      [anonymous(AUTH)],
    ],
    [
      "a warrant",
      bare("u", { extra: { [WARRANT]: [warrant({ user: "v", groups: ["h"] })] } }),
      [named("u"), named("v", "h")],
    ],
    [
      "two warrants",
      bare("u", { extra: { [WARRANT]: [warrant({ user: "v" }), warrant({ user: "w" })] } }),
      [named("u"), named("v"), named("w")],
    ],
    [
      "a nested warrant",
      bare("u", { extra: { [WARRANT]: [warrant({ user: "v", extra: { [WARRANT]: [warrant({ user: "w" })] } })] } }),
      [named("u"), named("v"), named("w")],
    ],
    [
      "a warrant with scopes",
      bare("u", { extra: { [WARRANT]: [warrant({ user: "v", extra: { [SCOPES]: ["cluster:d"] } })] } }),
      [named("u"), anonymous(UNAUTH, "system:cluster:d")],
    ],
    [
      "a warrant for an account of c",
      bare("u", {
        extra: { [WARRANT]: [warrant({ user: "system:serviceaccount:default:robot", extra: { [HOME]: ["c"] } })] },
      }),
      [named("u"), named(self.name), everywhere("c")],
    ],
    [
      "a warrant for an account of d",
      bare("u", {
        extra: { [WARRANT]: [warrant({ user: "system:serviceaccount:default:robot", extra: { [HOME]: ["d"] } })] },
      }),
      [named("u"), anonymous(UNAUTH, "system:cluster:d"), everywhere("d")],
    ],
    [
      "a warrant for a service account without a cluster name",
      bare("u", { extra: { [WARRANT]: [warrant({ user: "system:serviceaccount:default:robot" })] } }),
      [named("u")],
    ],
    [
      "a warrant for an account with a scope",
      bare("u", {
        extra: {
          [WARRANT]: [warrant({ user: "system:serviceaccount:default:robot", extra: { [SCOPES]: ["cluster:c"] } })],
        },
      }),
      [named("u")],
    ],
    [
      "invalid warrants",
      bare("u", {
        extra: {
          [WARRANT]: [
            "",
            "{",
            "null",
            "[]",
            "7",
            '{"user":7}',
            '{"groups":"g"}',
            '{"groups":[7]}',
            '{"extra":{"authentication.kcp.io/scopes":"cluster:c"}}',
            '{"extra":[]}',
          ],
        },
      }),
      [named("u")],
    ],
    [
      "a warrant with nulls",
      bare("u", { extra: { [WARRANT]: ['{"user":"v","groups":null,"extra":null,"uid":null}'] } }),
      [named("u"), named("v")],
    ],
  ];
  for (const [whom, identity, expected] of rows)
    it(`are correct for ${whom}`, () => {
      const found = effectiveUsers(identity, "c").map(({ name, groups }) => ({ name, groups: [...groups] }));
      expect(found).to.deep.equal(expected);
    });

  it("depend on the scopes of the logical cluster", () => {
    const scoped = login("u", { extra: { [SCOPES]: ["cluster:c,cluster:d", "cluster:d"] } });
    expect(["c", "d", "e", ""].map((cluster) => isInScope(scoped, cluster))).to.deep.equal([false, true, false, false]);
  });

  it("include those of deeply nested warrants", () => {
    let text = warrant({ user: "inner" });
    for (let depth = 0; depth < 12; depth++) text = warrant({ user: `u${depth}`, extra: { [WARRANT]: [text] } });
    expect(text.length).to.be.above(8_000);
    expect(effectiveUsers(bare("u", { extra: { [WARRANT]: [text] } }), "c")).to.have.length(14);
  });
});

describe("service accounts", () => {
  it("have permissions by name in their own workspace, and not in another with an account of that name", () => {
    const world = new World();
    world.workspace("d");
    for (const cluster of ["c", "d"]) {
      world.role(cluster, "pods", READ_PODS);
      world.bind(cluster, "pods", { to: "pods", subject: account("robot") });
    }
    expect(["c", "d"].map((cluster) => world.may(robot("robot", "c"), { ...PODS, cluster }))).to.deep.equal([
      true,
      false,
    ]);
    expect(world.may(robot("robot", "c"), { ...PODS, namespace: "default" })).to.equal(true);
    world.admit("d", team("system:authenticated"));
    expect(world.may(robot("robot", "c"), { ...PODS, cluster: "d" })).to.equal(false);
    world.bind("d", "all", { to: "pods", subject: team("system:serviceaccounts") });
    expect(world.may(robot("robot", "c"), { ...PODS, cluster: "d" })).to.equal(false);
  });

  for (const subject of [
    team("system:authenticated"),
    person("system:kcp:serviceaccount:c:default:robot"),
    team("system:cluster:c"),
  ])
    it(`have permissions elsewhere through ${subject.kind} ${subject.name}`, () => {
      const world = new World();
      world.workspace("d");
      world.role("d", "pods", READ_PODS);
      world.admit("d", subject);
      world.bind("d", "pods", { to: "pods", subject });
      expect(world.may(robot("robot", "c"), { ...PODS, cluster: "d" })).to.equal(true);
      expect(world.may(robot("robot", "c"), { ...PODS, cluster: "d", verb: "list" })).to.equal(false);
      expect(world.may(robot("robot", "e"), { ...PODS, cluster: "d" })).to.equal(
        subject.name === "system:authenticated",
      );
      expect(world.may(robot("other", "c"), { ...PODS, cluster: "d" })).to.equal(subject.kind === "Group");
    });
});

describe("users of a workspace", () => {
  it("may bind exports if the group of their workspace may, and under no other name or group", () => {
    const world = new World();
    world.workspace("p");
    world.role("p", "bind", { verbs: ["bind"], apiGroups: ["apis.kcp.io"], resources: ["apiexports"] });
    world.bind("p", "bind", { to: "bind", subject: team("system:cluster:c") });
    const bind = { cluster: "p", group: "apis.kcp.io", resource: "apiexports", name: "today", verb: "bind" };
    const of = (extra: Identity["extra"], groups: readonly string[] = []) =>
      world.decideDeep(login("u", { groups, extra }), bind).allowed;
    expect(of({ [SCOPES]: ["cluster:c"], [HOME]: ["c"] })).to.equal(true);
    expect(of({ [SCOPES]: ["cluster:c", "cluster:c"] })).to.equal(true);
    expect(of({ [SCOPES]: ["cluster:c"], [WARRANT]: [warrant({ user: "v" })] })).to.equal(true);
    expect(of({ [WARRANT]: [warrant({ user: "v", extra: { [SCOPES]: ["cluster:c"] } })] })).to.equal(true);
    expect(of({})).to.equal(false);
    expect(of({ [HOME]: ["c"] })).to.equal(false);
    expect(of({ [SCOPES]: ["cluster:d"], [HOME]: ["c"] })).to.equal(false);
    expect(of({ [SCOPES]: ["cluster:d"] }, ["system:cluster:c"])).to.equal(false);
    expect(world.decideDeep(robot("x", "c"), bind).allowed).to.equal(true);
    expect(world.decideDeep(robot("x", "c", { extra: { [SCOPES]: ["cluster:d"] } }), bind).allowed).to.equal(false);
  });
});
