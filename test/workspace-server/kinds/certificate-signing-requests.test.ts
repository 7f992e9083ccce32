// Why: kcp's workspaces have Kubernetes' CertificateSigningRequests, and a signer trusts the user and the approval in them.
import { randomUUID } from "node:crypto";
import { expect } from "chai";
import { bmpText } from "../../_support/der.ts";
import { MERGE } from "../../_support/patches.ts";
import { type Answer, outcome } from "../../_support/plain.ts";
import { createAuthority } from "../../_support/server.ts";
import { startWorkspaces, type Workspaces } from "../support/workspaces.ts";
import { base64, certificateRequest, FORMS } from "./requests.ts";

const GROUP = "certificates.k8s.io";
const CSRS = `/clusters/root/apis/${GROUP}/v1/certificatesigningrequests` as const;
const RBAC = "/clusters/root/apis/rbac.authorization.k8s.io/v1";
const root = { user: "root" };
const SIGNER = "example.com/serving";

describe("CertificateSigningRequests", () => {
  let server: Workspaces;
  let pem: string;

  before(async () => {
    server = await startWorkspaces(undefined, { users: ["approver", "signer", "domain", "neither"] });
    pem = certificateRequest(["team"]);
    const all = {
      apiGroups: [GROUP],
      resources: ["", "/approval", "/status"].map((part) => `certificatesigningrequests${part}`),
    };
    const may = (verb: string, name: string) => ({
      ...{ apiGroups: [GROUP], resources: ["signers"], verbs: [verb], resourceNames: [name] },
    });
    await grant("approver", { ...all, verbs: ["*"] }, may("approve", SIGNER));
    await grant("signer", { ...all, verbs: ["*"] }, may("sign", SIGNER));
    await grant("domain", { ...all, verbs: ["*"] }, may("approve", "example.com/*"));
    await grant("neither", { ...all, verbs: ["*"] });
  });
  after(() => server[Symbol.asyncDispose]());

  async function grant(user: string, ...rules: object[]): Promise<void> {
    const enter = { nonResourceURLs: ["/"], verbs: ["access"] };
    const metadata = { name: user };
    const apiVersion = "rbac.authorization.k8s.io/v1";
    const role = { apiVersion, kind: "ClusterRole", metadata, rules: [enter, ...rules] };
    const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: user };
    const subjects = [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: user }];
    const binding = { apiVersion, kind: "ClusterRoleBinding", metadata, roleRef, subjects };
    expect((await server.send(`POST ${RBAC}/clusterroles`, role, root)).status).to.equal(201);
    expect((await server.send(`POST ${RBAC}/clusterrolebindings`, binding, root)).status).to.equal(201);
  }

  const request = (spec: object = {}, name = `r-${randomUUID()}`): object => ({
    apiVersion: `${GROUP}/v1`,
    kind: "CertificateSigningRequest",
    metadata: { name },
    spec: { request: base64(pem), signerName: SIGNER, usages: ["client auth"], ...spec },
  });
  const create = (object: object, user = "root"): Promise<Answer> => server.send(`POST ${CSRS}`, object, { user });
  const make = async (spec: object = {}): Promise<`${typeof CSRS}/${string}`> => {
    const made = await create(request(spec));
    expect(made.status, made.text).to.equal(201);
    return `${CSRS}/${made.body.metadata.name}`;
  };
  const patch = (at: `/${string}`, body: object, user = "root"): Promise<Answer> =>
    server.send(`PATCH ${at}`, body, { user, ...MERGE });
  const conditions = (...types: (string | object)[]): object => ({
    status: { conditions: types.map((type) => (typeof type === "string" ? { type, status: "True" } : type)) },
  });
  const invalid = (...causes: readonly string[]): RegExp => {
    const text = causes.map((cause) => cause.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&")).join(", ");
    return new RegExp(`is invalid: ${causes.length > 1 ? `\\[${text}\\]` : text}$`);
  };

  it("name the user who created them, whatever the client says, and have no status", async () => {
    const forged = { username: "shard-admin", uid: "1", groups: ["system:masters"], extra: { a: ["b"] } };
    const object = { ...request(forged), ...conditions("Approved") };
    const { status, body } = await create(object, "neither");
    expect(status).to.equal(201);
    expect(body.spec).to.deep.equal({
      ...{ request: base64(pem), signerName: SIGNER, usages: ["client auth"] },
      ...{ username: "neither", groups: ["system:authenticated"] },
    });
    expect(body.status).to.deep.equal({});
    const { body: list } = await server.get(`/clusters/root/apis/${GROUP}/v1`, root);
    expect(
      list.resources.map(({ name, verbs }: { name: string; verbs: string[] }) => [name, verbs.length]),
    ).to.deep.equal([
      ["certificatesigningrequests", 8],
      ["certificatesigningrequests/approval", 3],
      ["certificatesigningrequests/status", 3],
    ]);
  });

  it("are approved through /approval alone, with times, and never twice differently", async () => {
    const at = await make();
    const kept = await server.get(at, root);
    const changed = { metadata: { labels: { a: "b" } }, spec: { signerName: "example.com/other", username: "x" } };
    const plain = await patch(at, { ...changed, ...conditions("Approved") });
    expect([plain.body.spec, plain.body.status, plain.body.metadata.labels]).to.deep.equal([
      kept.body.spec,
      {},
      { a: "b" },
    ]);
    const refused = await patch(`${at}/status`, conditions("Approved"));
    expect(refused.body.message).to.match(
      invalid('status.conditions: Forbidden: updates may not add a condition of type "Approved"'),
    );
    const approved = await patch(`${at}/approval`, {
      ...changed,
      ...conditions("Approved"),
      status: { ...(conditions("Approved") as { status: object }).status, certificate: base64("x") },
    });
    expect(approved.status, approved.text).to.equal(200);
    const [condition] = approved.body.status.conditions;
    expect(Object.keys(approved.body.status)).to.deep.equal(["conditions"]);
    expect(condition).to.include({ type: "Approved", status: "True" });
    expect(condition.lastUpdateTime).to.match(/Z$/).and.to.equal(condition.lastTransitionTime);
    const both = await patch(`${at}/approval`, conditions("Approved", "Denied"));
    expect(both.body.message).to.match(
      invalid('status.conditions: Invalid value: "Denied": Approved and Denied conditions are mutually exclusive'),
    );
    const removed = await patch(`${at}/approval`, conditions());
    expect(removed.body.message).to.match(
      invalid('status.conditions: Forbidden: updates may not remove a condition of type "Approved"'),
    );
  });

  it("get a certificate through /status, once, which keeps the approval", async () => {
    const at = await make();
    await patch(`${at}/approval`, conditions("Approved"));
    const { body: before } = await server.get(at, root);
    const certificate = base64(createAuthority().ca);
    const content = { status: { certificate, conditions: [{ type: "Approved", status: "True", reason: "Forged" }] } };
    const issued = await patch(`${at}/status`, content);
    expect(issued.status, issued.text).to.equal(200);
    expect(issued.body.status).to.deep.equal({ ...before.status, certificate });
    const again = await patch(`${at}/status`, { status: { certificate: base64(createAuthority().ca) } });
    expect(again.body.message).to.match(
      invalid("status.certificate: Forbidden: updates may not modify existing certificate content"),
    );
    const wrong = await patch(`${await make()}/status`, { status: { certificate: base64(pem) } });
    expect(wrong.body.message).to.match(
      invalid(
        'status.certificate: Invalid value: "<certificate data>": only CERTIFICATE PEM blocks are allowed, found "CERTIFICATE REQUEST"',
      ),
    );
  });

  it("validate conditions", async () => {
    const at = await make();
    const failed = await patch(`${at}/status`, conditions({ type: "Failed", status: "False" }, { type: "X" }));
    expect(failed.body.message).to.match(
      invalid(
        'status.conditions[0].status: Unsupported value: "False": supported values: "True"',
        "status.conditions[1].status: Required value",
      ),
    );
    expect((await patch(`${at}/status`, conditions("Failed"))).status).to.equal(200);
  });

  it("are approved and signed only by users with the signer's verbs", async () => {
    const at = await make();
    const denied = (verb: string): unknown[] => {
      const name = at.slice(CSRS.length + 1);
      const message = `certificatesigningrequests.certificates.k8s.io "${name}" is forbidden: user not permitted to ${verb} requests with signerName "${SIGNER}"`;
      return [403, "Forbidden", message];
    };
    for (const user of ["neither", "signer"])
      expect(outcome(await patch(`${at}/approval`, conditions("Approved"), user))).to.deep.equal(denied("approve"));
    for (const user of ["approver", "domain"])
      expect((await patch(`${at}/approval`, conditions("Approved"), user)).status, user).to.equal(200);
    const failed = conditions("Approved", "Failed");
    for (const user of ["neither", "approver"])
      expect(outcome(await patch(`${at}/status`, failed, user))).to.deep.equal(denied("sign"));
    expect((await patch(`${at}/status`, failed, "signer")).status).to.equal(200);
  });

  it("never ask for a client certificate of system:masters", async () => {
    const masters = base64(certificateRequest(["team", "system:masters"]));
    const signerName = "kubernetes.io/kube-apiserver-client";
    const refused = await create(request({ request: masters, signerName }, "m"));
    expect(outcome(refused)).to.deep.equal([
      403,
      "Forbidden",
      'certificatesigningrequests.certificates.k8s.io "m" is forbidden: use of kubernetes.io/kube-apiserver-client signer with system:masters group is not allowed',
    ]);
    const wide = base64(certificateRequest(["system:masters"], undefined, bmpText));
    expect((await create(request({ request: wide, signerName }))).status).to.equal(403);
    await make({ request: masters });
    await make({ signerName });
    await make({ signerName, request: base64(certificateRequest(["team"], undefined, bmpText)) });
  });

  const SUBDOMAIN =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
  const REFUSED: readonly (readonly [spec: object, ...causes: string[]])[] = [
    [{ request: base64("foo") }, 'spec.request: Invalid value: "Zm9v": PEM block type must be CERTIFICATE REQUEST'],
    [{ usages: [] }, "spec.usages: Required value"],
    [{ usages: ["any", "any"] }, 'spec.usages[1]: Duplicate value: "any"'],
    [
      { signerName: "noslash", expirationSeconds: 10 },
      "spec.signerName: Invalid value: \"noslash\": must be a fully qualified domain and path of the form 'example.com/signer-name'",
      "spec.expirationSeconds: Invalid value: 10: may not specify a duration less than 600 seconds (10 minutes)",
    ],
    [{ signerName: "" }, "spec.signerName: Required value"],
    [
      { signerName: "a/b" },
      'spec.signerName: Invalid value: "a": should be a domain with at least two segments separated by dots',
    ],
    [{ signerName: "a.b/C" }, `spec.signerName: Invalid value: "C": validating label "C": ${SUBDOMAIN}`],
    [
      { signerName: "kubernetes.io/legacy-unknown" },
      'spec.signerName: Invalid value: "kubernetes.io/legacy-unknown": the legacy signerName is not allowed via this API version',
    ],
  ];
  for (const [spec, ...causes] of REFUSED)
    it(`are rejected with ${JSON.stringify(spec).slice(0, 50)}`, async () => {
      const { status, body } = await create(request(spec));
      expect([status, body.reason]).to.deep.equal([422, "Invalid"]);
      expect(body.message).to.match(invalid(...causes));
    });

  it("are rejected with an unknown usage, and with a signature of another key", async () => {
    expect((await create(request({ usages: ["x"] }))).body.message).to.contain(
      'spec.usages[0]: Unsupported value: "x": supported values: "any", "cert sign"',
    );
    const forged = pem.replace(/.{8}\r?\n-----END/, (text) =>
      text.replace(/^.{4}/, (four) => (four === "AAAA" ? "BBBB" : "AAAA")),
    );
    expect((await create(request({ request: base64(forged) }))).body.message).to.match(
      /spec\.request: Invalid value: ".*": x509: /,
    );
  });

  for (const [key, form] of Object.entries(FORMS))
    it(`accept a request that a key signed: ${key}`, async () => {
      await make({ request: base64(certificateRequest([], form)) });
    });

  it("are selected by signer, and listed with requester, duration and condition", async () => {
    const at = await make({ signerName: "example.com/listed", expirationSeconds: 3600 });
    await patch(`${at}/approval`, conditions("Denied"));
    const headers = { accept: "application/json;as=Table;g=meta.k8s.io;v=v1" };
    const { body } = await server.get(`${CSRS}?fieldSelector=spec.signerName%3Dexample.com%2Flisted`, {
      ...root,
      headers,
    });
    expect(body.columnDefinitions.map(({ name }: { name: string }) => name)).to.deep.equal([
      ...["Name", "Age", "SignerName", "Requestor", "RequestedDuration", "Condition"],
    ]);
    expect(body.rows).to.have.length(1);
    expect(body.rows[0].cells.slice(2)).to.deep.equal(["example.com/listed", "shard-admin", "60m", "Denied"]);
  });
});
