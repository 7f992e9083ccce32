// Decisions of policies and webhooks in audit events.
import { audit } from "@virtual-workspaces/framework/audit";
import { expect } from "chai";
import { until } from "../../_support/until.ts";
import { makeWorkspace } from "../support/logical-clusters.ts";
import type { Workspaces } from "../support/workspaces.ts";
import { configure, hook, MAPS, makeMap, startConfigured } from "./support/configured.ts";
import { enact, makeBinding } from "./support/policies.ts";
import { WebhookServer } from "./support/webhook.ts";

interface AuditEvent {
  readonly stage: string;
  readonly verb: string;
  readonly objectRef?: { readonly resource: string; readonly name?: string };
  readonly annotations?: Readonly<Record<string, string>>;
}

const FAILURES = "validation.policy.admission.k8s.io/validation_failure";

describe("audit events of admission", function () {
  this.timeout(30_000);
  let server: Workspaces;
  let cluster: string;
  let count = 0;
  const events: AuditEvent[] = [];

  before(async () => {
    server = await startConfigured({
      audit: audit({
        policy: { apiVersion: "audit.k8s.io/v1", kind: "Policy", rules: [{ level: "Metadata" }] },
        to: (line) => void events.push(JSON.parse(line)),
      }),
    });
  });
  after(() => server[Symbol.asyncDispose]());
  beforeEach(async () => {
    count += 1;
    cluster = await makeWorkspace(server, `ws-${count}`);
  });

  /** Creates a ConfigMap, and returns the status code with the annotations of its audit event. */
  const audited = async (name: string, data: object = {}) => {
    const { status, text } = await makeMap(server, cluster, { name, data });
    const isIt = ({ stage, verb, objectRef }: AuditEvent): boolean =>
      stage === "ResponseComplete" && verb === "create" && objectRef?.name === name;
    await until(() => events.some(isIt));
    return { status, text, annotations: events.find(isIt)?.annotations ?? {} };
  };
  const failuresIn = (annotations: Readonly<Record<string, string>>) => JSON.parse(annotations[FAILURES] ?? "[]");

  it("have all failures of policies with the action Audit, also of a request that is denied", async () => {
    await enact(server, cluster, {
      kind: "Validating",
      name: "first",
      spec: {
        validations: [
          { expression: "true" },
          { expression: "object.data.a == '1'", message: "a is not 1" },
          { expression: "object.data.a == '2'", messageExpression: "'a is ' + object.data.a" },
        ],
      },
      binding: { validationActions: ["Audit", "Warn"] },
    });
    await enact(server, cluster, {
      kind: "Validating",
      name: "second",
      spec: { validations: [{ expression: "object.data.a != '3'" }] },
      binding: { validationActions: ["Deny", "Audit"] },
    });
    const first = (expressionIndex: number, message: string) => ({
      ...{ message, policy: "first", binding: "first-binding" },
      ...{ expressionIndex, validationActions: ["Audit", "Warn"] },
    });
    const passed = await audited("passed", { a: "1" });
    expect(passed.status, passed.text).to.equal(201);
    expect(failuresIn(passed.annotations)).to.deep.equal([first(2, "a is 1")]);
    const denied = await audited("denied", { a: "3" });
    expect(denied.status).to.equal(422);
    expect(failuresIn(denied.annotations)).to.deep.equal([
      first(1, "a is not 1"),
      first(2, "a is 3"),
      {
        ...{ message: "failed expression: object.data.a != '3'", policy: "second", binding: "second-binding" },
        ...{ expressionIndex: 0, validationActions: ["Deny", "Audit"] },
      },
    ]);
  });

  it("have at most 50 failures, as in Kubernetes", async () => {
    await enact(server, cluster, {
      kind: "Validating",
      spec: { validations: Array.from({ length: 60 }, (_, at) => ({ expression: `object.data.n == '${at}'` })) },
      binding: { validationActions: ["Audit"] },
    });
    const { annotations } = await audited("many", { n: "none" });
    const indexes = failuresIn(annotations).map(({ expressionIndex }: { expressionIndex: number }) => expressionIndex);
    expect(indexes).to.deep.equal(Array.from({ length: 50 }, (_, at) => at));
  });

  it("have the annotations of policies, with the distinct values of all bindings and params", async () => {
    for (const [name, text] of [
      ["one", "red"],
      ["two", "blue"],
      ["three", "red"],
    ] as const)
      expect((await makeMap(server, cluster, { name, labels: { params: "yes" }, data: { text } })).status).to.equal(
        201,
      );
    const paramRef = (selector: object) => ({
      paramRef: { selector, namespace: "default", parameterNotFoundAction: "Deny" },
    });
    await enact(server, cluster, {
      kind: "Validating",
      name: "annotates",
      spec: {
        paramKind: { apiVersion: "v1", kind: "ConfigMap" },
        auditAnnotations: [
          { key: "color", valueExpression: "string(params.data.text)" },
          { key: "none", valueExpression: "null" },
          { key: "empty", valueExpression: "' '" },
        ],
      },
      binding: paramRef({ matchLabels: { params: "yes" } }),
    });
    await makeBinding(server, cluster, {
      kind: "Validating",
      name: "again",
      spec: { policyName: "annotates", validationActions: ["Audit"], ...paramRef({ matchLabels: { params: "yes" } }) },
    });
    const { annotations } = await audited("annotated");
    expect(annotations["annotates/color"]?.split(", ").sort()).to.deep.equal(["blue", "red"]);
    expect(Object.keys(annotations).filter((key) => key.startsWith("annotates/"))).to.deep.equal(["annotates/color"]);
  });

  it("say which webhooks changed the object, in each round, and have patches only at the level Request", async () => {
    await using webhooks = await WebhookServer.start();
    webhooks.at("/again", ({ object }) =>
      object.data.b === undefined ? {} : { patch: [{ op: "add", path: "/data/c", value: "3" }] },
    );
    webhooks.at("/change", () => ({ patch: [{ op: "add", path: "/data/b", value: "2" }] }));
    await configure(server, cluster, {
      kind: "Mutating",
      name: "test",
      webhooks: [hook(webhooks, "/again", { reinvocationPolicy: "IfNeeded" }), hook(webhooks, "/change")],
    });
    const { status, annotations } = await audited("changed", { a: "1" });
    expect(status).to.equal(201);
    expect((await server.get(`/clusters/${cluster}/${MAPS}/changed`, { user: "root" })).body.data).to.deep.equal({
      ...{ a: "1", b: "2", c: "3" },
    });
    const about = (webhook: string, mutated: boolean) =>
      JSON.stringify({ configuration: "test", webhook: `${webhook}.example.dev`, mutated });
    const ofWebhooks = Object.entries(annotations).filter(([key]) => key.includes("webhook.admission.k8s.io"));
    expect(Object.fromEntries(ofWebhooks)).to.deep.equal({
      "mutation.webhook.admission.k8s.io/round_0_index_0": about("again", false),
      "mutation.webhook.admission.k8s.io/round_0_index_1": about("change", true),
      "mutation.webhook.admission.k8s.io/round_1_index_0": about("again", true),
    });
  });
});
