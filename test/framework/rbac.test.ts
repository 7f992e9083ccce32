// RBAC as Kubernetes evaluates it.
import { type AuthorizeRequest, allow, type Decision, deny, User } from "@virtual-workspaces/framework";
import { authenticatedUser } from "@virtual-workspaces/framework/authn";
import {
  type PolicyRule,
  type RbacObject,
  RbacPolicy,
  type RulesRequest,
  rbac,
} from "@virtual-workspaces/framework/authz";
import { expect } from "chai";
import { asked } from "../_support/asked.ts";

const alice = authenticatedUser({ name: "alice", groups: ["devs"] });
const robot = authenticatedUser({ name: "system:serviceaccount:ns:robot" });

const clusterRole = (name: string, rules: readonly PolicyRule[], labels = {}): RbacObject => ({
  kind: "ClusterRole",
  metadata: { name, labels },
  rules,
});
const toAlice = (role: string): RbacObject => ({
  kind: "ClusterRoleBinding",
  metadata: { name: `alice-${role}` },
  roleRef: { kind: "ClusterRole", name: role },
  subjects: [{ kind: "User", name: "alice" }],
});
const decide = (objects: readonly RbacObject[], about: Partial<AuthorizeRequest>, user = alice) =>
  rbac({ objects })(asked(user, { group: "apps", version: "v1", resource: "pods", ...about })) as Decision;
/** Whether alice may do something by a single rule. */
const may = (rule: PolicyRule, about: Partial<AuthorizeRequest>): boolean =>
  decide([clusterRole("r", [rule]), toAlice("r")], about).allowed;

describe("an RBAC rule", () => {
  const rule = { verbs: ["get"], apiGroups: ["apps"], resources: ["pods"] };
  const cases: readonly [string, PolicyRule, Partial<AuthorizeRequest>, boolean][] = [
    ["exactly what it names", rule, {}, true],
    ["no other verb", rule, { verb: "list" }, false],
    ["no other group", rule, { group: "" }, false],
    ["no other resource", rule, { resource: "nodes" }, false],
    ["no subresource", rule, { subresource: "log" }, false],
    ["a subresource that it names", { ...rule, resources: ["pods/log"] }, { subresource: "log" }, true],
    ["no object by the name of its subresource", { ...rule, resources: ["pods/log"] }, {}, false],
    ["a subresource of any resource", { ...rule, resources: ["*/log"] }, { subresource: "log" }, true],
    ["no other subresource of any resource", { ...rule, resources: ["*/log"] }, { subresource: "exec" }, false],
    ["no object by an empty subresource", { ...rule, resources: ["*/"] }, {}, false],
    ["no subresource by * after the slash", { ...rule, resources: ["pods/*"] }, { subresource: "log" }, false],
    ["subresources by *", { ...rule, resources: ["*"] }, { subresource: "log" }, true],
    ["all groups by *", { ...rule, apiGroups: ["*"] }, { group: "" }, true],
    ["all verbs by *", { ...rule, verbs: ["*"] }, { verb: "impersonate" }, true],
    ["the verb * only by *", rule, { verb: "*" }, false],
    ["a name that it names", { ...rule, resourceNames: ["a", "b"] }, { name: "b" }, true],
    ["no other name", { ...rule, resourceNames: ["a"] }, { name: "b" }, false],
    ["nothing without a name when it names objects", { ...rule, resourceNames: ["a"] }, { name: "" }, false],
    ["no name by *", { ...rule, resourceNames: ["*"] }, { name: "b" }, false],
    ["objects in namespaces", rule, { namespace: "ns" }, true],
    ["no path", rule, { path: "/pods", isResource: false }, false],
  ];
  for (const [what, given, about, expected] of cases)
    it(`allows ${what}`, () => {
      expect(may(given, about)).to.equal(expected);
    });

  const urls: readonly [string, string, boolean][] = [
    ["/apis", "/apis", true],
    ["/apis", "/apis/x", false],
    ["/apis/*", "/apis/x/y", true],
    ["/apis/*", "/apis", false],
    ["/apis*", "/apis", true],
    ["*", "/anything", true],
    ["/a*c", "/abc", false],
    ["/a**", "/ab", true],
  ];
  for (const [url, path, expected] of urls)
    it(`on ${url} is ${expected ? "" : "not "}on ${path}`, () => {
      expect(may({ verbs: ["get"], nonResourceURLs: [url] }, { path, isResource: false })).to.equal(expected);
    });
});

describe("an RBAC binding", () => {
  const pods = { verbs: ["get"], apiGroups: ["apps"], resources: ["pods"] };
  const role: RbacObject = { kind: "Role", metadata: { name: "r", namespace: "ns" }, rules: [pods] };
  const bound = (fields: object): RbacObject =>
    ({
      kind: "RoleBinding",
      metadata: { name: "b", namespace: "ns" },
      roleRef: { kind: "Role", name: "r" },
      subjects: [{ kind: "User", name: "alice" }],
      ...fields,
    }) as RbacObject;

  it("of a Role applies to its namespace", () => {
    const objects = [role, bound({})];
    expect(decide(objects, { namespace: "ns" })).to.deep.equal(allow());
    expect(decide(objects, { namespace: "other" })).to.deep.equal(deny(""));
    expect(decide(objects, {})).to.deep.equal(deny(""));
  });

  it("of a ClusterRole in a namespace applies to that namespace, and to no path", () => {
    const rules = [{ verbs: ["get"], nonResourceURLs: ["*"] }, pods];
    const objects = [clusterRole("r", rules), bound({ roleRef: { kind: "ClusterRole", name: "r" } })];
    expect(decide(objects, { namespace: "ns" })).to.deep.equal(allow());
    expect(decide(objects, { namespace: "" })).to.deep.equal(deny(""));
    expect(decide(objects, { isResource: false, path: "/apis", namespace: "ns" })).to.deep.equal(deny(""));
  });

  it("also applies to groups and service accounts, by their exact names", () => {
    const to = (subject: object, user: User) =>
      decide([role, bound({ subjects: [subject] })], { namespace: "ns" }, user);
    expect(to({ kind: "Group", name: "devs" }, alice)).to.deep.equal(allow());
    expect(to({ kind: "Group", name: "Devs" }, alice)).to.deep.equal(deny(""));
    expect(to({ kind: "User", name: "devs" }, alice)).to.deep.equal(deny(""));
    expect(to({ kind: "Group", name: "alice" }, alice)).to.deep.equal(deny(""));
    expect(to({ kind: "User", name: "*" }, alice)).to.deep.equal(deny(""));
    expect(to({ kind: "ServiceAccount", name: "robot" }, robot)).to.deep.equal(allow());
    expect(to({ kind: "ServiceAccount", name: "robot", namespace: "ns" }, robot)).to.deep.equal(allow());
    expect(to({ kind: "ServiceAccount", name: "robot", namespace: "other" }, robot)).to.deep.equal(deny(""));
    expect(to({ kind: "User", name: "system:serviceaccount:ns:robot" }, robot)).to.deep.equal(allow());
  });

  it("gives no user all permissions implicitly", () => {
    const master = new User({ name: "system:admin", groups: ["system:masters"] });
    expect(decide([role, bound({})], { namespace: "ns" }, master)).to.deep.equal(deny(""));
  });

  it("to a missing role grants nothing, reports it, and leaves the other bindings in force", () => {
    const lost = (name: string): RbacObject => toAlice(name);
    const one = `clusterrole.rbac.authorization.k8s.io "gone" not found`;
    expect(decide([lost("gone")], {})).to.deep.equal(deny(`RBAC: ${one}`));
    const objects = [lost("gone"), role, bound({ roleRef: { kind: "Role", name: "away" } })];
    const two = `[${one}, role.rbac.authorization.k8s.io "away" not found]`;
    expect(decide(objects, { namespace: "ns" })).to.deep.equal(deny(`RBAC: ${two}`));
    expect(decide([lost("gone"), clusterRole("r", [pods]), toAlice("r")], {})).to.deep.equal(allow());
  });
});

describe("an aggregated ClusterRole", () => {
  const pods = { verbs: ["get"], apiGroups: ["apps"], resources: ["pods"] };
  const sum = (name: string, selectors: object[], labels = {}): RbacObject =>
    ({
      kind: "ClusterRole",
      metadata: { name, labels },
      aggregationRule: { clusterRoleSelectors: selectors },
    }) as RbacObject;
  const toView = [{ matchLabels: { view: "true" } }];

  it("has the rules that its selectors match, directly or through others, and none of its own", () => {
    const objects = [
      toAlice("all"),
      sum("all", [{ matchExpressions: [{ key: "edit", operator: "Exists" }] }]),
      sum("view", toView, { edit: "" }),
      clusterRole("pods", [pods], { view: "true" }),
      clusterRole("nodes", [{ ...pods, resources: ["nodes"] }], { view: "false" }),
    ];
    expect(decide(objects, {})).to.deep.equal(allow());
    expect(decide(objects, { resource: "nodes" })).to.deep.equal(deny(""));
    const own = { ...sum("all", toView), rules: [{ ...pods, resources: ["*"] }] } as RbacObject;
    expect(decide([toAlice("all"), own], {})).to.deep.equal(deny(""));
  });

  it("may select itself", () => {
    const objects = [
      toAlice("a"),
      sum("a", toView, { view: "true" }),
      sum("b", toView, { view: "true" }),
      clusterRole("pods", [pods], { view: "true" }),
    ];
    expect(decide(objects, {})).to.deep.equal(allow());
    expect(decide(objects, { verb: "list" })).to.deep.equal(deny(""));
  });

  it("follows changes", () => {
    const policy = new RbacPolicy([toAlice("view"), sum("view", toView)]);
    const authorizer = rbac({ policy });
    const now = () => (authorizer(asked(alice, { group: "apps", resource: "pods" })) as Decision).allowed;
    expect(now()).to.equal(false);
    policy.set(clusterRole("pods", [pods], { view: "true" }));
    expect(now()).to.equal(true);
    policy.set(clusterRole("pods", [pods], {}));
    expect(now()).to.equal(false);
    policy.set(clusterRole("pods", [pods], { view: "true" }));
    expect([policy.delete({ kind: "ClusterRole", metadata: { name: "pods" } }), now()]).to.deep.equal([true, false]);
  });
});

describe("a policy that changes", () => {
  const pods = { verbs: ["get"], apiGroups: ["apps"], resources: ["pods"] };

  it("decides by its current state", () => {
    const policy = new RbacPolicy([clusterRole("r", [pods])]);
    const authorizer = rbac({ policy });
    const now = (user = alice) => (authorizer(asked(user, { group: "apps", resource: "pods" })) as Decision).allowed;
    expect(now()).to.equal(false);
    policy.set(toAlice("r"));
    expect(now()).to.equal(true);
    policy.set({ ...toAlice("r"), subjects: [{ kind: "Group", name: "devs" }] } as RbacObject);
    expect([now(), now(new User({ name: "alice" }))]).to.deep.equal([true, false]);
    expect(policy.delete(toAlice("r"))).to.equal(true);
    expect([now(), policy.delete(toAlice("r"))]).to.deep.equal([false, false]);
  });

  it("keeps copies that outside changes do not affect", () => {
    const resources = ["nodes"];
    const policy = new RbacPolicy([clusterRole("r", [{ ...pods, resources }]), toAlice("r")]);
    resources.push("pods");
    expect((rbac({ policy })(asked(alice, { group: "apps", resource: "pods" })) as Decision).allowed).to.equal(false);
  });

  it("is not changed by rejected objects", () => {
    const policy = new RbacPolicy([clusterRole("r", [pods]), toAlice("r")]);
    expect(() => policy.set(clusterRole("r", [{ verbs: [] }]))).to.throw("rules[0].verbs: Required value");
    expect((rbac({ policy })(asked(alice, { group: "apps", resource: "pods" })) as Decision).allowed).to.equal(true);
  });

  it("accepts objects that were validated elsewhere, and keeps only what it needs to decide", () => {
    const policy = new RbacPolicy();
    policy.setValidated(clusterRole("r", [pods]));
    policy.setValidated({ ...toAlice("r"), metadata: { name: "b", uid: "7", annotations: { a: "b" } } } as RbacObject);
    const [grant] = policy.grants(alice, "");
    expect(grant).to.deep.equal({
      namespace: "",
      rules: [pods],
      binding: {
        kind: "ClusterRoleBinding",
        metadata: { name: "b" },
        roleRef: { kind: "ClusterRole", name: "r" },
        subjects: [{ kind: "User", name: "alice" }],
      },
    });
    expect([
      policy.empty,
      policy.delete(clusterRole("r", [])),
      policy.delete({ ...toAlice("r"), metadata: { name: "b" } }),
    ]).to.deep.equal([false, true, true]);
    expect(policy.empty).to.equal(true);
  });

  it("adds the roles of named other policies, but none of their bindings", () => {
    const nodes = { ...pods, resources: ["nodes"] };
    const own = new RbacPolicy([clusterRole("r", [pods]), toAlice("r"), toAlice("s"), toAlice("t")]);
    const other = new RbacPolicy([
      clusterRole("r", [nodes]),
      clusterRole("s", [nodes]),
      clusterRole("u", [nodes]),
      toAlice("u"),
    ]);
    const rules = (...also: readonly RbacPolicy[]) => [...own.grants(alice, "", also)].map((one) => one.rules);
    const missing = (name: string) => `clusterrole.rbac.authorization.k8s.io "${name}" not found`;
    expect(rules(other)).to.deep.equal([[pods], [nodes], [nodes], missing("t")]);
    expect(rules()).to.deep.equal([[pods], missing("s"), missing("t")]);
  });

  it("finds the bindings of any of several identities, each once", () => {
    const both = {
      ...toAlice("r"),
      subjects: [
        { kind: "User", name: "alice" },
        { kind: "Group", name: "devs" },
      ],
    } as RbacObject;
    const policy = new RbacPolicy([clusterRole("r", [pods]), both]);
    expect([...policy.grants([new User({ name: "x", groups: ["devs"] }), alice], "")]).to.have.length(1);
    expect([...policy.grants([new User({ name: "x" })], "")]).to.deep.equal([]);
  });

  it("may be one of many, chosen by the request; without one access is denied", async () => {
    const policies: Record<string, RbacPolicy> = { root: new RbacPolicy([clusterRole("r", [pods]), toAlice("r")]) };
    const authorizer = rbac<Record<string, string>>({ policy: ({ params }) => policies[params["cluster"] ?? ""] });
    const later = rbac<Record<string, string>>({ policy: async ({ params }) => policies[params["cluster"] ?? ""] });
    const question = (cluster: string) => asked(alice, { group: "apps", resource: "pods", params: { cluster } });
    expect(authorizer(question("root"))).to.deep.equal(allow());
    expect(authorizer(question("other"))).to.deep.equal(deny(""));
    expect(await later(question("root"))).to.deep.equal(allow());
  });

  it("does not need more time per check for other users' bindings", () => {
    const others = Array.from(
      { length: 20_000 },
      (_, at): RbacObject =>
        ({
          ...toAlice("r"),
          metadata: { name: `b${at}` },
          subjects: [{ kind: "User", name: `user${at}` }],
        }) as RbacObject,
    );
    const policy = new RbacPolicy([clusterRole("r", [pods]), toAlice("r"), ...others]);
    expect([...policy.grants(alice, "ns")]).to.have.length(1);
    const authorizer = rbac({ policy });
    const started = performance.now();
    for (let at = 0; at < 20_000; at++) authorizer(asked(alice, { group: "apps", resource: "pods" }));
    expect(performance.now() - started).to.be.below(2_000);
  });
});

describe("the RBAC rules of a user", () => {
  it("come from its bindings, in a namespace and everywhere; missing roles are reported", async () => {
    const pods = { verbs: ["get"], apiGroups: ["apps"], resources: ["pods"], resourceNames: ["a"] };
    const url = { verbs: ["get"], nonResourceURLs: ["/x"] };
    const binding: RbacObject = {
      kind: "RoleBinding",
      metadata: { name: "b", namespace: "ns" },
      roleRef: { kind: "ClusterRole", name: "here" },
      subjects: [{ kind: "Group", name: "devs" }],
    };
    const objects = [
      clusterRole("all", [url]),
      toAlice("all"),
      clusterRole("here", [pods, url]),
      binding,
      toAlice("gone"),
    ];
    const rules = (namespace: string) =>
      rbac({ objects }).rules?.({
        user: alice,
        params: {},
        namespace,
        signal: new AbortController().signal,
      } as RulesRequest);
    const evaluationError = 'clusterrole.rbac.authorization.k8s.io "gone" not found';
    expect(await rules("ns")).to.deep.equal({
      resourceRules: [pods],
      nonResourceRules: [url],
      incomplete: false,
      evaluationError,
    });
    expect(await rules("x")).to.deep.equal({
      resourceRules: [],
      nonResourceRules: [url],
      incomplete: false,
      evaluationError,
    });
  });
});
