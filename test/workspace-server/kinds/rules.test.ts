// Why: validation, defaults and columns of namespaces, events, leases, quotas and RBAC are those of Kubernetes.

import { builtInKinds } from "@virtual-workspaces/workspace-server";
import { expect } from "chai";
import { MERGE } from "../../_support/patches.ts";
import { outcome, type PlainServer, startPlain } from "../../_support/plain.ts";
import { KINDS, kindsView } from "./served.ts";

const RBAC = "rbac.authorization.k8s.io/v1";
const meta = { name: "x" };
const role = { kind: "ClusterRole", name: "r" };
const bad = (kind: string, subject: object): object => ({ kind, metadata: meta, roleRef: role, subjects: [subject] });

/** Path, object, and validation message. */
const REFUSED: [path: string, object: object, message: string][] = [
  [
    "v1/namespaces",
    { kind: "Namespace", metadata: { name: "a.b" } },
    `metadata.name: Invalid value: "a.b": must not contain dots`,
  ],
  [
    "v1/namespaces",
    { kind: "Namespace", metadata: meta, spec: { finalizers: ["a"] } },
    'spec.finalizers: Invalid value: "a": name is neither a standard finalizer name',
  ],
  [
    "coordination.k8s.io/v1/namespaces/n/leases",
    { kind: "Lease", metadata: meta, spec: { leaseDurationSeconds: 0 } },
    "spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0",
  ],
  [
    "coordination.k8s.io/v1/namespaces/n/leases",
    { kind: "Lease", metadata: meta, spec: { preferredHolder: "a" } },
    "spec.preferredHolder: Forbidden: may only be specified if `strategy` is defined",
  ],
  [
    "v1/namespaces/n/events",
    { kind: "Event", metadata: meta, involvedObject: { namespace: "o" } },
    'involvedObject.namespace: Invalid value: "o": does not match event.namespace',
  ],
  [
    "events.k8s.io/v1/namespaces/n/events",
    { kind: "Event", metadata: meta, type: "Normal", regarding: { namespace: "n" } },
    "eventTime: Required value",
  ],
  [
    "v1/namespaces/n/resourcequotas",
    { kind: "ResourceQuota", metadata: meta, spec: { hard: { pods: "1.5" } } },
    'spec.hard[pods]: Invalid value: "1.5": must be an integer',
  ],
  [
    "v1/namespaces/n/resourcequotas",
    { kind: "ResourceQuota", metadata: meta, spec: { hard: { unknown: 1 } } },
    'spec.hard[unknown]: Invalid value: "unknown": must be a standard resource for quotas',
  ],
  [
    `${RBAC}/clusterroles`,
    { kind: "ClusterRole", metadata: { name: "a/b" } },
    `metadata.name: Invalid value: "a/b": may not contain '/'`,
  ],
  [
    `${RBAC}/namespaces/n/roles`,
    { kind: "Role", metadata: meta, rules: [{ verbs: ["get"], nonResourceURLs: ["/"] }] },
    'rules[0].nonResourceURLs: Invalid value: ["/"]: namespaced rules cannot apply to non-resource URLs',
  ],
  [
    `${RBAC}/clusterroles`,
    { kind: "ClusterRole", metadata: meta, rules: [{ verbs: [], apiGroups: [""], resources: ["a"] }] },
    "rules[0].verbs: Required value: verbs must contain at least one value",
  ],
  [
    `${RBAC}/clusterrolebindings`,
    bad("ClusterRoleBinding", { kind: "ServiceAccount", name: "a" }),
    "subjects[0].namespace: Required value",
  ],
  [
    `${RBAC}/clusterrolebindings`,
    bad("ClusterRoleBinding", { kind: "User", apiGroup: "o", name: "a" }),
    `subjects[0].apiGroup: Unsupported value: "o": supported values: "rbac.authorization.k8s.io"`,
  ],
  [
    `${RBAC}/namespaces/n/rolebindings`,
    bad("RoleBinding", { kind: "Robot", name: "a" }),
    `subjects[0].kind: Unsupported value: "Robot": supported values: "ServiceAccount", "User", "Group"`,
  ],
];

describe("Kubernetes' own kinds", () => {
  let server: PlainServer;
  before(async () => {
    server = await startPlain([kindsView()]);
  });
  after(() => server[Symbol.asyncDispose]());

  const url = (path: string) => `${KINDS}/${path.startsWith("v1/") ? "api" : "apis"}/${path}` as const;
  const versionOf = (path: string): string => (path.startsWith("v1/") ? "v1" : path.split("/").slice(0, 2).join("/"));
  const make = (path: string, object: object) =>
    server.send(`POST ${url(path)}`, { apiVersion: versionOf(path), ...object });

  for (const [path, object, message] of REFUSED)
    it(`reject an invalid object: ${message.slice(0, 60)}`, async () => {
      const { status, body } = await make(path, object);
      expect([status, body.reason]).to.deep.equal([422, "Invalid"]);
      expect(body.message).to.contain(`is invalid: ${message}`);
    });

  it("reject an object of another kind with 400, and a patch to one with 422, as Kubernetes does", async () => {
    const secret = { apiVersion: "v1", kind: "Secret", metadata: meta };
    const text = 'Secret in version "v1" cannot be handled as a Namespace: kind must be "Namespace"';
    expect(outcome(await make("v1/namespaces", secret))).to.deep.equal([400, "BadRequest", text]);
    const { body } = await make("v1/namespaces", { kind: "Namespace", metadata: { name: "typed" } });
    const at = `PUT ${url("v1/namespaces")}/typed` as const;
    expect(outcome(await server.send(at, { ...body, kind: "Secret" }))).to.deep.equal([400, "BadRequest", text]);
    const patched = await server.send(`PATCH ${url("v1/namespaces")}/typed`, { kind: "Secret" }, MERGE);
    expect(outcome(patched).slice(0, 2)).to.deep.equal([422, "Invalid"]);
  });

  it("allow any path segment as the name of a role, and default the API groups in bindings", async () => {
    const path = `${RBAC}/clusterrolebindings`;
    const binding = {
      kind: "ClusterRoleBinding",
      metadata: { name: "system:a" },
      roleRef: role,
      subjects: [{ kind: "User", name: "u" }],
    };
    const { status, body } = await make(path, binding);
    const apiGroup = "rbac.authorization.k8s.io";
    expect([status, body.roleRef.apiGroup, body.subjects]).to.deep.equal([
      201,
      apiGroup,
      [{ kind: "User", name: "u", apiGroup }],
    ]);
    const other = await server.send(`PUT ${url(path)}/system:a`, {
      ...body,
      roleRef: { ...role, apiGroup, name: "o" },
    });
    expect(other.body.message).to.match(
      /is invalid: roleRef: Invalid value: \{"APIGroup":"[^"]+","Kind":"ClusterRole","Name":"o"\}: cannot change roleRef$/,
    );
  });

  it("derive the phase of a namespace from its deletion, and do not let clients write its spec", async () => {
    const { body } = await make("v1/namespaces", { kind: "Namespace", metadata: { name: "held" } });
    const wrong = await server.send(`PUT ${url("v1/namespaces")}/held/status`, {
      ...body,
      status: { phase: "Terminating" },
    });
    expect(wrong.body.message).to.contain(`status.Phase: Invalid value: "Terminating": may only be 'Active' if`);
    const kept = await server.send(`PUT ${url("v1/namespaces")}/held`, { ...body, spec: {} });
    expect(kept.body.spec).to.deep.equal({ finalizers: ["kubernetes"] });
    const found = await server.get(`${url("v1/namespaces")}?fieldSelector=status.phase=Active,metadata.name=held`);
    expect(found.body.items).to.have.length(1);
  });

  it("respond to deletes of quotas and accounts with the object, and to others with a Status", async () => {
    const kinds = { resourcequotas: "ResourceQuota", serviceaccounts: "ServiceAccount", secrets: "Secret" };
    const answers: unknown[] = [];
    for (const [plural, kind] of Object.entries(kinds)) {
      const { body } = await make(`v1/namespaces/n/${plural}`, { kind, metadata: { name: "gone" } });
      for (const query of ["?dryRun=All", "?orphanDependents=false"]) {
        const deleted = await server.send(`DELETE ${url(`v1/namespaces/n/${plural}`)}/gone${query}`);
        const uid = deleted.body.metadata.uid ?? deleted.body.details.uid;
        expect([deleted.status, uid]).to.deep.equal([200, body.metadata.uid]);
        answers.push(deleted.body.kind);
      }
      expect((await server.get(`${url(`v1/namespaces/n/${plural}`)}/gone`)).status).to.equal(404);
    }
    const told = ["ResourceQuota", "ServiceAccount", "Status"];
    expect(answers).to.deep.equal(told.flatMap((kind) => [kind, kind]));
  });

  it("select events by their object, in both groups", async () => {
    const event = {
      kind: "Event",
      metadata: { name: "e" },
      involvedObject: { kind: "Pod", name: "p", namespace: "n" },
      source: { component: "c" },
    };
    await make("v1/namespaces/n/events", event);
    const names = async (path: string): Promise<string[]> =>
      (await server.get(url(path))).body.items.map((item: { metadata: { name: string } }) => item.metadata.name);
    expect(await names("v1/namespaces/n/events?fieldSelector=involvedObject.name=p,source=c")).to.deep.equal(["e"]);
    expect(await names("events.k8s.io/v1/events?fieldSelector=regarding.kind=Pod")).to.deep.equal(["e"]);
    expect(await names("v1/events?fieldSelector=involvedObject.name=other")).to.deep.equal([]);
  });

  it("have the columns of Kubernetes", () => {
    const shown = Object.fromEntries(
      builtInKinds.map(({ resource: { plural, group, columns } }) => [
        `${plural}.${group}`,
        columns.map(({ name }) => name).join(),
      ]),
    );
    const binding = "Role,Age,Users,Groups,ServiceAccounts";
    const event = "Last Seen,Type,Reason,Object,Subobject,Source,Message,First Seen,Count,Name";
    expect(shown).to.deep.equal({
      "certificatesigningrequests.certificates.k8s.io": "Age,SignerName,Requestor,RequestedDuration,Condition",
      "configmaps.": "Data,Age",
      "events.": event,
      "namespaces.": "Status,Age",
      "resourcequotas.": "Request,Limit,Age",
      "secrets.": "Type,Data,Age",
      "serviceaccounts.": "Age",
      "leases.coordination.k8s.io": "Holder,Age",
      "clusterrolebindings.rbac.authorization.k8s.io": binding,
      "clusterroles.rbac.authorization.k8s.io": "Created At",
      "rolebindings.rbac.authorization.k8s.io": binding,
      "roles.rbac.authorization.k8s.io": "Created At",
      "mutatingadmissionpolicies.admissionregistration.k8s.io": "Mutations,ParamKind,Age",
      "mutatingadmissionpolicybindings.admissionregistration.k8s.io": "PolicyName,ParamRef,Age",
      "validatingadmissionpolicies.admissionregistration.k8s.io": "Validations,ParamKind,Age",
      "validatingadmissionpolicybindings.admissionregistration.k8s.io": "PolicyName,ParamRef,Age",
      "mutatingwebhookconfigurations.admissionregistration.k8s.io": "Webhooks,Age",
      "validatingwebhookconfigurations.admissionregistration.k8s.io": "Webhooks,Age",
      "events.events.k8s.io": event,
      "customresourcedefinitions.apiextensions.k8s.io": "Created At",
    });
  });

  it("show computed columns", () => {
    const cell = (plural: string, column: string, content: object): unknown => {
      const { columns = [] } = builtInKinds.find(({ resource }) => resource.plural === plural)?.resource ?? {};
      const spec = columns.find(({ name }) => name === column);
      if (spec === undefined || !("value" in spec)) throw new Error(`no such column ${column}`);
      return spec.value({ apiVersion: "", kind: "", metadata: {}, ...content });
    };
    const event = {
      involvedObject: { kind: "Pod", name: "p" },
      source: { component: "c", host: "h" },
      message: " m\n",
      count: 0,
    };
    const quota = { status: { hard: { pods: "3", "limits.cpu": "2" }, used: { pods: "1" } } };
    const subjects = [
      { kind: "User", name: "a" },
      { kind: "User", name: "b" },
      { kind: "ServiceAccount", namespace: "n", name: "s" },
    ];
    expect(cell("configmaps", "Data", { data: { a: "" }, binaryData: { b: "", c: "" } })).to.equal(3);
    expect(
      ["Object", "Source", "Message", "Count", "Last Seen"].map((name) => cell("events", name, event)),
    ).to.deep.equal(["pod/p", "c, h", "m", 1, "<unknown>"]);
    expect(["Request", "Limit"].map((name) => cell("resourcequotas", name, quota))).to.deep.equal([
      "pods: 1/3",
      "limits.cpu: 0/2",
    ]);
    expect(
      ["Role", "Users", "ServiceAccounts"].map((name) => cell("rolebindings", name, { subjects, roleRef: role })),
    ).to.deep.equal(["ClusterRole/r", "a, b", "n/s"]);
  });
});
