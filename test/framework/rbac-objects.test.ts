// RBAC objects: validation and loading from files.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Decision } from "@virtual-workspaces/framework";
import { authenticatedUser } from "@virtual-workspaces/framework/authn";
import { type RbacObject, rbac } from "@virtual-workspaces/framework/authz";
import { expect } from "chai";
import { tree } from "../_setup/tree.ts";
import { asked } from "../_support/asked.ts";

const alice = authenticatedUser({ name: "alice" });

const toAlice = (role: string): RbacObject => ({
  kind: "ClusterRoleBinding",
  metadata: { name: `alice-${role}` },
  roleRef: { kind: "ClusterRole", name: role },
  subjects: [{ kind: "User", name: "alice" }],
});

describe("RBAC objects that Kubernetes rejects", () => {
  const rule = { verbs: ["get"], apiGroups: [""], resources: ["pods"] };
  const role = (fields: object) => ({ kind: "ClusterRole", metadata: { name: "r" }, rules: [{ ...rule, ...fields }] });
  const binding = (fields: object) => ({ ...toAlice("r"), ...fields });
  const subject = (fields: object) => binding({ subjects: [{ kind: "User", name: "alice", ...fields }] });
  const cases: readonly [object, string][] = [
    [
      role({ verbs: [] }),
      'ClusterRole "r" is invalid: rules[0].verbs: Required value: verbs must contain at least one',
    ],
    [role({ verbs: "get" }), "rules[0].verbs: Invalid value"],
    [role({ verbs: undefined }), "rules[0].verbs: Required value"],
    [role({ apiGroups: [] }), "rules[0].apiGroups: Required value: resource rules must supply at least one api group"],
    [role({ resources: [] }), "rules[0].resources: Required value: resource rules must supply at least one resource"],
    [role({ resourceName: ["a"] }), "rules[0].resourceName: Forbidden: unknown field: remove it or correct its name"],
    [role({ nonResourceURLs: ["/x"] }), "rules cannot apply to both regular resources and non-resource URLs"],
    [
      { kind: "Role", metadata: { name: "r", namespace: "ns" }, rules: [{ verbs: ["get"], nonResourceURLs: ["/x"] }] },
      'rules[0].nonResourceURLs: Invalid value: ["/x"]: namespaced rules cannot apply to non-resource URLs',
    ],
    [{ kind: "Role", metadata: { name: "r" } }, "metadata.namespace: Required value"],
    [{ kind: "ClusterRole", metadata: { name: "r", namespace: "ns" } }, "metadata.namespace: Forbidden"],
    [{ kind: "ClusterRole", metadata: {} }, "metadata.name: Required value"],
    [{ kind: "ClusterRole", metadata: { name: "a/b" } }, "metadata.name: Invalid value"],
    [{ kind: "ClusterRole" }, "metadata: Required value"],
    [{ kind: "ConfigMap", metadata: { name: "r" } }, 'kind: Unsupported value: "ConfigMap"'],
    [{ ...role({}), apiVersion: "rbac.authorization.k8s.io/v1beta1" }, "apiVersion: Unsupported value"],
    [binding({ roleRef: undefined }), "roleRef: Required value"],
    [binding({ roleRef: { kind: "Role", name: "r" } }), 'roleRef.kind: Unsupported value: "Role"'],
    [binding({ roleRef: { kind: "ClusterRole", name: "" } }), "roleRef.name: Required value"],
    [binding({ roleRef: { apiGroup: "x", kind: "ClusterRole", name: "r" } }), "roleRef.apiGroup: Unsupported value"],
    [subject({ name: "" }), "subjects[0].name: Required value"],
    [subject({ kind: "Robot" }), 'subjects[0].kind: Unsupported value: "Robot"'],
    [subject({ kind: "toString" }), 'subjects[0].kind: Unsupported value: "toString"'],
    [subject({ apiGroup: "x" }), "subjects[0].apiGroup: Unsupported value"],
    [subject({ kind: "ServiceAccount" }), "subjects[0].namespace: Required value"],
    [{ ...role({}), aggregationRule: {} }, "aggregationRule.clusterRoleSelectors: Required value"],
    [
      { ...role({}), aggregationRule: { clusterRoleSelectors: [{ matchLabels: { "a b": "" } }] } },
      "aggregationRule.clusterRoleSelectors[0]: Invalid value",
    ],
  ];
  for (const [object, message] of cases)
    it(`are rejected: ${message}`, () => {
      expect(() => rbac({ objects: [object as RbacObject] }))
        .to.throw(Error, message)
        .with.property("message")
        .that.matches(/^rbac: /);
    });

  it("are rejected when they are not objects, or given twice", () => {
    expect(() => rbac({ objects: ["x" as never] })).to.throw("rbac: not a role or binding");
    const twice = [role({}), role({})] as RbacObject[];
    expect(() => rbac({ objects: twice })).to.throw('rbac: duplicate ClusterRole "r"');
  });
});

describe("RBAC from files", () => {
  const FILE = `# who may read
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: { name: reader }
rules:
- { verbs: [get], apiGroups: [apps], resources: [pods] }
---
---
kind: List
apiVersion: v1
items:
- apiVersion: rbac.authorization.k8s.io/v1
  kind: ClusterRoleBinding
  metadata: { name: readers }
  roleRef: { apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: reader }
  subjects:
  - { apiGroup: rbac.authorization.k8s.io, kind: User, name: alice }
`;
  const allowed = (file: string) =>
    (rbac({ file })(asked(alice, { group: "apps", resource: "pods" })) as Decision).allowed;

  it("are loaded with all documents and lists, in YAML and JSON, from one file or all files of a folder", () => {
    using folder = tree({});
    const file = join(folder.path, "rbac.yaml");
    writeFileSync(file, FILE);
    expect(allowed(file)).to.equal(true);
    const [role = "", , list = ""] = FILE.split("---\n");
    const split = join(folder.path, "split");
    mkdirSync(split);
    writeFileSync(join(split, "a.yml"), list);
    writeFileSync(join(split, "README.md"), "not a role");
    expect(allowed(split)).to.equal(false);
    writeFileSync(join(split, "b.yaml"), role);
    expect(allowed(split)).to.equal(true);
    const json = { kind: "ClusterRoleBindingList", items: [{ ...toAlice("reader"), kind: undefined }] };
    writeFileSync(join(split, "a.yml"), "");
    writeFileSync(join(split, "c.json"), JSON.stringify(json));
    expect(allowed(split)).to.equal(true);
  });

  it("are rejected with the file, the document and the field", () => {
    using folder = tree({});
    const refused = (text: string): string => {
      const file = join(folder.path, "rbac.yaml");
      writeFileSync(file, text);
      try {
        rbac({ file });
        return "";
      } catch (error) {
        return (error as Error).message.replace(folder.path, "");
      }
    };
    expect(refused(FILE.replace("verbs: [get]", "verbs: []"))).to.equal(
      'rbac: /rbac.yaml, document 1: ClusterRole "reader" is invalid: rules[0].verbs: Required value: verbs must contain at least one value',
    );
    expect(refused(FILE.replace("kind: User", "kind: Robot"))).to.include("document 3, items[0]: ClusterRoleBinding");
    expect(refused(`${FILE}---\na: [1`)).to.match(/^rbac: \/rbac\.yaml, document 4: yaml: line (19|20)/);
    expect(refused("kind: ClusterRole\nkind: Role\n")).to.include('key "kind" already set');
    expect(refused("--- not an object\n")).to.include("not a role or binding");
    expect(refused("just text\n")).to.include("not a role or binding");
    const empty = join(folder.path, "empty");
    mkdirSync(empty);
    expect(() => rbac({ file: empty })).to.throw("rbac: no .yaml, .yml or .json file in folder");
    expect(() => rbac({ file: join(folder.path, "nothing") })).to.throw("ENOENT");
  });
});
