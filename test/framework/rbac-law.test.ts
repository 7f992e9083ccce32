// Random roles, bindings and requests. Decisions equal a literal reading of the rules, listed rules equal the decisions, and
// a policy built by changes decides as one built at once.
import { type AuthorizeRequest, type Decision, User } from "@virtual-workspaces/framework";
import {
  type ClusterRole,
  type PolicyRule,
  type RbacObject,
  RbacPolicy,
  type Rules,
  type RulesRequest,
  rbac,
  type Subject,
} from "@virtual-workspaces/framework/authz";
import { expect } from "chai";
import { asked } from "../_support/asked.ts";
import { Random } from "../_support/random.ts";

const NAMES = ["a", "b"] as const;
const NAMESPACES = ["ns", "other"] as const;
const RESOURCES = ["pods", "nodes", "pods/log", "*/log", "*", "pods/*"] as const;
const LABELS: readonly Record<string, string>[] = [{}, { x: "1" }, { x: "2", y: "1" }];

const some = <T>(random: Random, values: readonly T[]): T[] =>
  random.many(1 + random.below(2), () => random.pick(values));

function rule(random: Random, namespaced: boolean): PolicyRule {
  const verbs = some(random, ["get", "list", "create", "*"]);
  if (!namespaced && random.chance(0.3)) return { verbs, nonResourceURLs: some(random, ["/x", "/x/*", "*", "/y"]) };
  const resourceNames = random.chance(0.3) ? { resourceNames: some(random, NAMES) } : {};
  return { verbs, apiGroups: some(random, ["", "apps", "*"]), resources: some(random, RESOURCES), ...resourceNames };
}

function subject(random: Random): Subject {
  const kind = random.pick(["User", "Group", "ServiceAccount"] as const);
  const name = random.pick(NAMES);
  return kind === "ServiceAccount" ? { kind, name, namespace: random.pick(NAMESPACES) } : { kind, name };
}

function object(random: Random): RbacObject {
  const name = random.pick([...NAMES, "c"]);
  const namespace = random.pick(NAMESPACES);
  const subjects = random.many(random.below(3), () => subject(random));
  const rules = random.many(random.below(3), () => rule(random, false));
  switch (random.pick(["Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding", "sum"] as const)) {
    case "Role":
      return { kind: "Role", metadata: { name, namespace }, rules: random.many(2, () => rule(random, true)) };
    case "ClusterRole":
      return { kind: "ClusterRole", metadata: { name, labels: random.pick(LABELS) }, rules };
    case "sum": {
      const clusterRoleSelectors = some(random, [{ matchLabels: { x: "1" } }, { matchLabels: { y: "1" } }]);
      return {
        kind: "ClusterRole",
        metadata: { name, labels: random.pick(LABELS) },
        rules,
        aggregationRule: { clusterRoleSelectors },
      };
    }
    case "RoleBinding": {
      const roleRef = { kind: random.pick(["Role", "ClusterRole"] as const), name: random.pick([...NAMES, "c"]) };
      return { kind: "RoleBinding", metadata: { name, namespace }, roleRef, subjects };
    }
    case "ClusterRoleBinding": {
      const roleRef = { kind: "ClusterRole", name: random.pick([...NAMES, "c"]) } as const;
      return { kind: "ClusterRoleBinding", metadata: { name }, roleRef, subjects };
    }
  }
}

const keyOf = ({ kind, metadata }: RbacObject): string => `${kind}/${metadata.namespace ?? ""}/${metadata.name}`;

/** A literal reading of the rules: without an index or a cache. */
class Reference {
  readonly #objects: readonly RbacObject[];

  constructor(objects: readonly RbacObject[]) {
    this.#objects = objects;
  }

  allows(user: User, question: AuthorizeRequest): boolean {
    const { namespace, isResource } = question;
    return this.#given(user, isResource ? namespace : "").some((one) => covers(one, question));
  }

  #given(user: User, namespace: string): readonly PolicyRule[] {
    return this.#objects.flatMap((binding) => {
      if (binding.kind !== "RoleBinding" && binding.kind !== "ClusterRoleBinding") return [];
      if (binding.kind === "RoleBinding" && (namespace === "" || binding.metadata.namespace !== namespace)) return [];
      if (!(binding.subjects ?? []).some((one) => isMeant(one, user))) return [];
      const { kind, name } = binding.roleRef;
      const role = this.#objects.find(
        (one) =>
          one.kind === kind &&
          one.metadata.name === name &&
          (kind === "ClusterRole" || one.metadata.namespace === namespace),
      );
      if (role === undefined) return [];
      return role.kind === "ClusterRole" ? this.#rulesOf(role, []) : role.kind === "Role" ? (role.rules ?? []) : [];
    });
  }

  #rulesOf(role: ClusterRole, above: readonly ClusterRole[]): readonly PolicyRule[] {
    const selectors = role.aggregationRule?.clusterRoleSelectors;
    if (selectors === undefined) return role.rules ?? [];
    if (above.includes(role)) return [];
    const parts = this.#objects.filter(
      (one): one is ClusterRole =>
        one.kind === "ClusterRole" &&
        selectors.some(({ matchLabels = {} }) =>
          Object.entries(matchLabels).every(([key, value]) => one.metadata.labels?.[key] === value),
        ),
    );
    return parts.flatMap((part) => this.#rulesOf(part, [...above, role]));
  }
}

function isMeant({ kind, name, namespace = "" }: Subject, user: User): boolean {
  if (kind === "Group") return user.groups.includes(name);
  return user.name === (kind === "User" ? name : `system:serviceaccount:${namespace}:${name}`);
}

/** Rules listed for a review are read in the same way. */
function covers(rules: Partial<PolicyRule>, question: AuthorizeRequest): boolean {
  const { verbs = [], apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rules;
  const { verb, isResource, group, resource, subresource, name, path } = question;
  if (!verbs.includes("*") && !verbs.includes(verb)) return false;
  if (!isResource)
    return nonResourceURLs.some((url) => url === path || (url.endsWith("*") && path.startsWith(url.slice(0, -1))));
  const full = subresource === "" ? resource : `${resource}/${subresource}`;
  const wild = subresource === "" ? [] : [`*/${subresource}`];
  return (
    (apiGroups.includes("*") || apiGroups.includes(group)) &&
    ["*", full, ...wild].some((one) => resources.includes(one)) &&
    (resourceNames.length === 0 || resourceNames.includes(name))
  );
}

function user(random: Random): User {
  const name = random.pick(["a", "b", "system:serviceaccount:ns:a", "system:serviceaccount:other:b"]);
  return new User({ name, groups: random.many(random.below(3), () => random.pick(NAMES)) });
}

function question(random: Random, who: User): AuthorizeRequest {
  if (random.chance(0.2)) return asked(who, { path: random.pick(["/x", "/x/y", "/y", "/"]), verb: "get" });
  return asked(who, {
    verb: random.pick(["get", "list", "create", "*"]),
    group: random.pick(["", "apps"]),
    resource: random.pick(["pods", "nodes"]),
    subresource: random.pick(["", "", "log"]),
    namespace: random.pick(["", ...NAMESPACES]),
    name: random.pick(["", ...NAMES]),
  });
}

describe("random roles and bindings", () => {
  for (let seed = 1; seed <= 20; seed++) {
    it(`decide by the rules, list what they decide, and may be built in any order: ${seed}`, async () => {
      const random = new Random(seed);
      let yes = 0;
      for (let round = 0; round < 40; round++) {
        const objects = new Map<string, RbacObject>();
        const grown = new RbacPolicy();
        for (let step = 0; step < 40; step++) {
          const next = object(random);
          objects.set(keyOf(next), next);
          grown.set(next);
          if (random.chance(0.1)) {
            const gone = object(random);
            expect(grown.delete(gone)).to.equal(objects.delete(keyOf(gone)));
          }
        }
        const all = [...objects.values()];
        const made = rbac({ objects: all });
        const changed = rbac({ policy: grown });
        const reference = new Reference(all);
        for (let ask = 0; ask < 25; ask++) {
          const who = user(random);
          const what = question(random, who);
          const expected = reference.allows(who, what);
          const about = JSON.stringify({ all, who, what });
          expect((made(what) as Decision).allowed, about).to.equal(expected);
          expect((changed(what) as Decision).allowed, about).to.equal(expected);
          expect(listed((await made.rules?.({ ...what } as RulesRequest)) as Rules, what), about).to.equal(expected);
          if (expected) yes++;
        }
      }
      expect(yes).to.be.above(50);
    });
  }
});

function listed({ resourceRules, nonResourceRules }: Rules, what: AuthorizeRequest): boolean {
  return [...resourceRules, ...nonResourceRules].some((one) => covers(one, what));
}
