// The level at which a policy audits requests, tested with requests to a server; invalid policies are rejected.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type AuditPolicy, type AuditRule, audit } from "@virtual-workspaces/framework/audit";
import { expect } from "chai";
import { tree } from "../_setup/tree.ts";
import { type AuditEvent, MEMOS, policy, startAudited, VIEW } from "../_support/audited.ts";

const ADMIN: AuditRule = { level: "Metadata", users: ["admin"] };

/** Returns the level at which alice's request is audited, or ""; a request from admin marks the end. */
async function levelOf(rules: readonly AuditRule[], path: string): Promise<string> {
  await using server = await startAudited({ policy: policy(ADMIN, ...rules) });
  await (await server.ask(path)).text();
  await (await server.ask(`${VIEW}/last`, { token: "admin-token" })).text();
  const seen: AuditEvent[] = [];
  while (seen.filter(({ user }) => user.username === "admin").length < 2) seen.push(...(await server.until(1)));
  return seen.find(({ user }) => user.username === "alice")?.["level"] ?? "";
}

describe("an audit policy", () => {
  const about = (resources: AuditRule["resources"], more: Partial<AuditRule> = {}): AuditRule => ({
    level: "Request",
    ...(resources && { resources }),
    ...more,
  });
  const first = `${MEMOS}/first`;
  const cases: readonly (readonly [what: string, rule: AuditRule, path: string, level: string])[] = [
    ["everything", about(undefined), first, "Request"],
    ["a user", about(undefined, { users: ["alice"] }), first, "Request"],
    ["another user", about(undefined, { users: ["eve"] }), first, ""],
    ["a group", about(undefined, { userGroups: ["x", "team"] }), first, "Request"],
    ["another group", about(undefined, { userGroups: ["x"] }), first, ""],
    ["a verb", about(undefined, { verbs: ["get"] }), first, "Request"],
    ["another verb", about(undefined, { verbs: ["list"] }), first, ""],
    ["a group's resources", about([{ group: "test.dev" }]), first, "Request"],
    ["the core group's", about([{}]), first, ""],
    ["any group's", about([{ group: "*", resources: ["memos"] }]), first, "Request"],
    ["a resource, not its subresources", about([{ group: "*", resources: ["memos"] }]), `${first}/status`, ""],
    ["a subresource", about([{ group: "*", resources: ["memos/status"] }]), `${first}/status`, "Request"],
    ["all subresources of a resource", about([{ group: "*", resources: ["memos/*"] }]), `${first}/status`, "Request"],
    ["a subresource of all resources", about([{ group: "*", resources: ["*/status"] }]), `${first}/status`, "Request"],
    ["all resources with all subresources", about([{ group: "*", resources: ["*"] }]), `${first}/status`, "Request"],
    ["a name", about([{ group: "*", resources: ["memos"], resourceNames: ["first"] }]), first, "Request"],
    ["another name", about([{ group: "*", resources: ["memos"], resourceNames: ["x"] }]), first, ""],
    ["a namespace", about(undefined, { namespaces: ["default"] }), first, "Request"],
    ["no namespace", about(undefined, { namespaces: [""] }), first, ""],
    ["paths, not objects", about(undefined, { nonResourceURLs: ["*"] }), first, ""],
    ["objects, not paths", about([{ group: "*" }]), `${VIEW}/apis`, ""],
    ["a path of a view", about(undefined, { nonResourceURLs: ["/apis"] }), `${VIEW}/apis`, "Request"],
    [
      "paths with the same prefix",
      about(undefined, { nonResourceURLs: ["/api*"] }),
      `${VIEW}/apis/test.dev`,
      "Request",
    ],
    ["a path with its view", about(undefined, { nonResourceURLs: ["/services/memos/*"] }), `${VIEW}/apis`, "Request"],
    ["another path", about(undefined, { nonResourceURLs: ["/openapi*"] }), `${VIEW}/apis`, ""],
  ];
  for (const [what, rule, path, level] of cases) {
    it(`selects requests by ${what}`, async () => {
      expect(await levelOf([rule], path)).to.equal(level);
    });
  }

  it("applies the first rule that matches, and audits nothing if none does", async () => {
    const none: AuditRule = { level: "None", verbs: ["get"] };
    expect(await levelOf([none, about(undefined)], first)).to.equal("");
    expect(await levelOf([about(undefined), none], first)).to.equal("Request");
    expect(await levelOf([], first)).to.equal("");
  });

  it("omits the stages of the policy and of the rule", async () => {
    const rules: readonly AuditRule[] = [
      { level: "Metadata", omitStages: ["ResponseComplete"], verbs: ["list"] },
      about(undefined),
    ];
    await using server = await startAudited({ policy: { ...policy(...rules), omitStages: ["RequestReceived"] } });
    await (await server.ask(MEMOS)).text();
    const { events } = await server.eventsOf(first, {}, 1);
    expect(events.map(({ verb, stage }) => `${verb} ${stage}`)).to.deep.equal(["get ResponseComplete"]);
  });

  it("can be read from a YAML file", async () => {
    using folder = tree({
      "policy.yaml": "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules:\n- level: Metadata\n  verbs: [get]\n",
    });
    const { policy: read } = audit({ policy: join(folder.path, "policy.yaml"), to: () => undefined });
    expect(read.rules).to.deep.equal([{ level: "Metadata", verbs: ["get"] }]);
  });

  const refused = (given: unknown): void => void audit({ policy: given as AuditPolicy, to: () => undefined });

  it("is rejected with the path of each invalid field, in Kubernetes' words", () => {
    const wrong: readonly (readonly [unknown, string])[] = [
      [
        { level: "metadata" },
        'rules[0].level: Unsupported value: "metadata": supported values: "None", "Metadata", "Request", "RequestResponse"',
      ],
      [{}, "rules[0].level: Required value"],
      [{ level: "None", users: "eve" }, 'rules[0].users: Invalid value: "string": must be a list of strings'],
      [{ level: "None", user: ["eve"] }, 'unknown field "rules[0].user"'],
      [{ level: "None", resources: [{ groups: [""] }] }, 'unknown field "rules[0].resources[0].groups"'],
      [
        { level: "None", nonResourceURLs: ["api"] },
        "rules[0].nonResourceURLs[0]: Invalid value: \"api\": non-resource URL rules must begin with a '/' character",
      ],
      [
        { level: "None", nonResourceURLs: ["/a*b"] },
        "rules[0].nonResourceURLs[0]: Invalid value: \"/a*b\": non-resource URL wildcards '*' must be the final character of the rule",
      ],
      [
        { level: "None", nonResourceURLs: ["/a"], namespaces: ["x"] },
        "rules cannot apply to both regular resources and non-resource URLs",
      ],
      [
        { level: "None", resources: [{ resourceNames: ["x"] }] },
        'rules[0].resources.resourceNames: Invalid value: ["x"]: using resourceNames requires at least one resource',
      ],
      [
        { level: "None", resources: [{ group: "rbac.authorization.k8s.io/v1" }] },
        "rules[0].resources.group: Invalid value",
      ],
      [
        { level: "None", omitStages: ["Begun"] },
        'rules[0].omitStages[0]: Invalid value: "Begun": allowed stages are RequestReceived,ResponseStarted,ResponseComplete,Panic',
      ],
    ];
    for (const [rule, text] of wrong) expect(() => refused(policy(rule as AuditRule)), text).to.throw(text);
    expect(() => refused(policy())).to.throw("loaded illegal policy with 0 rules");
    expect(() => refused({ ...policy(), kind: "Rules" })).to.throw(
      "begin with apiVersion: audit.k8s.io/v1 and kind: Policy",
    );
    expect(() => refused([])).to.throw("use an object");
    expect(() => refused({ ...policy(ADMIN), rules: "all" })).to.throw(
      'rules: Invalid value: "string": must be a list',
    );
    expect(() => refused({ ...policy(ADMIN), omitManagedFields: "yes" })).to.throw("omitManagedFields: Invalid value");
  });

  it("is rejected with file and line when it is not YAML, and when the file is missing", () => {
    using folder = tree({ "policy.yaml": "rules:\n- level: [\n" });
    writeFileSync(join(folder.path, "twice.yaml"), "kind: Policy\nkind: Policy\n");
    const read = (name: string) => () => refused(join(folder.path, name));
    expect(read("policy.yaml")).to.throw(/^audit policy: .*policy\.yaml: .* line 3/);
    expect(read("twice.yaml")).to.throw(/twice\.yaml: Map keys must be unique at line 2/);
    expect(read("none.yaml")).to.throw(/ENOENT.*none\.yaml/);
  });
});
