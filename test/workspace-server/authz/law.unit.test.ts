// Why: for random workspaces and users, rules reviews agree with decisions, and additional scopes never grant anything.
import type { Identity, User } from "@virtual-workspaces/framework";
import type { PolicyRule, Rules, Subject } from "@virtual-workspaces/framework/authz";
import { ruleAllows } from "@virtual-workspaces/framework/authz";
import { expect } from "chai";
import { effectiveUsers } from "../../../packages/workspace-server/src/authz/effective-users.ts";
import { Random } from "../../_support/random.ts";
import {
  type About,
  ACCESS,
  account,
  bindingOf,
  HOME,
  login,
  person,
  questionOf,
  robot,
  SCOPES,
  team,
  WARRANT,
  World,
} from "./world.ts";

const NAMES = ["a", "b", "system:kcp:serviceaccount:d:default:a"];
const GROUPS = ["g", "h", "system:authenticated", "system:cluster:d", "system:serviceaccounts", "system:kcp:admin"];
const CLUSTERS = ["c", "d"];

function subject(random: Random): Subject {
  const kind = random.pick(["User", "Group", "ServiceAccount"]);
  if (kind === "User") return person(random.pick(NAMES));
  return kind === "Group" ? team(random.pick(GROUPS.slice(0, 5))) : account(random.pick(["a", "b"]));
}

function rule(random: Random): PolicyRule {
  if (random.chance(0.3))
    return { verbs: [random.pick(["get", "access", "*"])], nonResourceURLs: [random.pick(["/", "/x", "/x/*", "*"])] };
  return {
    verbs: [random.pick(["get", "list", "*"])],
    apiGroups: [random.pick(["", "apps", "*"])],
    resources: [random.pick(["pods", "pods/log", "*"])],
    ...(random.chance(0.2) && { resourceNames: ["one"] }),
  };
}

function world(random: Random): World {
  const made = new World();
  for (const cluster of CLUSTERS) {
    made.clusters.set(cluster, { phase: "Ready" });
    for (const name of ["r", "view"]) if (random.chance(0.7)) made.role(cluster, name, rule(random), rule(random));
    const to = () => random.pick(["r", "view", "edit", ACCESS, "gone"]);
    for (let at = 0; at < 4; at++) made.bind(cluster, `b${at}`, { to: to(), subject: subject(random) });
    made.policies.set(cluster, bindingOf("ns", { to: to(), subject: subject(random), namespace: "ns" }));
  }
  return made;
}

function extra(random: Random, depth = 0): Identity["extra"] {
  const scope = () => random.pick(["cluster:c", "cluster:d", "cluster:c,cluster:d", "cluster:e"]);
  return {
    ...(random.chance(0.3) && { [SCOPES]: random.many(1 + random.below(2), scope) }),
    ...(random.chance(0.2) && { [HOME]: [random.pick(["c", "d"])] }),
    ...(depth < 2 && random.chance(0.3) && { [WARRANT]: [warrant(random, depth + 1)] }),
  };
}

function warrant(random: Random, depth: number): string {
  const user = random.pick([...NAMES, "system:serviceaccount:default:a"]);
  return JSON.stringify({
    user,
    groups: random.many(random.below(2), () => random.pick(GROUPS)),
    extra: extra(random, depth),
  });
}

function user(random: Random): User {
  const more = { groups: random.many(random.below(3), () => random.pick(GROUPS)), extra: extra(random) };
  return random.chance(0.3) ? robot("a", undefined, more) : login(random.pick(NAMES), more);
}

function about(random: Random): About {
  const cluster = random.pick(CLUSTERS);
  if (random.chance(0.3))
    return { cluster, path: random.pick(["/", "/x", "/x/y", "/api"]), verb: random.pick(["get", "access"]) };
  return {
    cluster,
    verb: random.pick(["get", "list", "create"]),
    group: random.pick(["", "apps"]),
    resource: "pods",
    subresource: random.pick(["", "log"]),
    namespace: random.pick(["", "ns", "other"]),
    name: random.pick(["", "one", "two"]),
  };
}

function listed({ resourceRules, nonResourceRules }: Rules, asked: About): boolean {
  return [...resourceRules, ...nonResourceRules].some((one) => ruleAllows(one, questionOf(login("x"), asked)));
}

describe("random users of random workspaces", () => {
  for (let seed = 1; seed <= 10; seed++)
    it(`may do exactly what their rules review lists, once they have access: ${seed}`, () => {
      const random = new Random(seed);
      const seen = { yes: 0, no: 0, shut: 0 };
      for (let round = 0; round < 60; round++) {
        const made = world(random);
        for (let ask = 0; ask < 20; ask++) {
          const who = user(random);
          const what = about(random);
          const { cluster = "c", namespace = "" } = what;
          const rules = made.authorizer.rules({
            user: who,
            params: { cluster },
            namespace,
            signal: new AbortController().signal,
          });
          const local =
            who.name.startsWith("system:serviceaccount:") && effectiveUsers(who, cluster)[0]?.name === who.name;
          const enters = local || listed(rules, { path: "/", verb: "access" });
          const expected = enters && listed(rules, what);
          const told = JSON.stringify({ who, what, rules });
          expect(made.may(who, what), told).to.equal(expected);
          expect(made.decideDeep(who, what).allowed, told).to.equal(listed(rules, what));
          if (expected) seen.yes++;
          else if (enters) seen.no++;
          else seen.shut++;
        }
      }
      expect(Math.min(seen.yes, seen.no, seen.shut), JSON.stringify(seen)).to.be.above(20);
    });

  for (let seed = 1; seed <= 5; seed++)
    it(`gain nothing by an additional scope, nor by their global name: ${seed}`, () => {
      const random = new Random(seed);
      for (let round = 0; round < 200; round++) {
        const who = user(random);
        const scoped = login(who.name, {
          groups: who.groups,
          extra: { ...who.extra, [SCOPES]: [...(who.extra[SCOPES] ?? []), "cluster:c"] },
        });
        const [here] = effectiveUsers(scoped, "c");
        const [elsewhere] = effectiveUsers(scoped, "d");
        const before = effectiveUsers(who, "c")[0];
        expect([before?.name, "system:anonymous"]).to.include(here?.name);
        expect(elsewhere?.name).to.equal("system:anonymous");
        expect(elsewhere?.groups).not.to.include("system:kcp:admin");
      }
    });
});
