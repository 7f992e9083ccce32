// Match conditions, warnings and audit annotations of webhooks, and their metrics.
import { audit } from "@virtual-workspaces/framework/audit";
import { expect } from "chai";
import { expectFault } from "../../_setup/faults.ts";
import { type ExposedFamily, parseExposition } from "../../_support/exposition.ts";
import { until } from "../../_support/until.ts";
import { makeWorkspace } from "../support/logical-clusters.ts";
import type { Workspaces } from "../support/workspaces.ts";
import { configure, hook, makeMap, startConfigured } from "./support/configured.ts";
import { WebhookServer } from "./support/webhook.ts";

interface AuditEvent {
  readonly stage: string;
  readonly verb: string;
  readonly objectRef?: { readonly resource: string; readonly name?: string };
  readonly annotations?: Readonly<Record<string, string>>;
}

describe("webhooks", function () {
  this.timeout(30_000);
  let server: Workspaces;
  let webhooks: WebhookServer;
  let cluster: string;
  let count = 0;
  const events: AuditEvent[] = [];

  before(async () => {
    webhooks = await WebhookServer.start();
    server = await startConfigured({
      audit: audit({
        policy: { apiVersion: "audit.k8s.io/v1", kind: "Policy", rules: [{ level: "Request" }] },
        to: (line) => void events.push(JSON.parse(line)),
      }),
    });
  });
  after(async () => {
    await server[Symbol.asyncDispose]();
    await webhooks[Symbol.asyncDispose]();
  });
  beforeEach(async () => {
    count += 1;
    cluster = await makeWorkspace(server, `ws-${count}`);
  });

  const configured = (kind: "Validating" | "Mutating", ...hooks: readonly object[]) =>
    configure(server, cluster, { kind, name: "test", webhooks: hooks });
  const conditions = (...expressions: readonly string[]) => ({
    matchConditions: expressions.map((expression, at) => ({ name: `c${at}`, expression })),
  });

  it("are called only if all match conditions are true", async () => {
    await configured(
      "Validating",
      hook(webhooks, "/match", conditions("object.data.n == '1'", "request.operation == 'CREATE'")),
      hook(webhooks, "/user", conditions("request.userInfo.username == 'shard-admin' && oldObject == null")),
      hook(webhooks, "/cluster", conditions(`object.metadata.annotations['kcp.io/cluster'] == '${cluster}'`)),
    );
    for (const n of ["1", "2"])
      expect((await makeMap(server, cluster, { name: `n${n}`, data: { n } })).status).to.equal(201);
    const told = ["/match", "/user", "/cluster"].map((path) => webhooks.calls(path).map(({ name }) => name));
    expect(told).to.deep.equal([["n1"], ["n1", "n2"], ["n1", "n2"]]);
  });

  it("reject with 403 when a match condition fails, unless failures are ignored or another condition is false", async () => {
    const failing = conditions("object.data.missing == '1'");
    await configured(
      "Validating",
      hook(webhooks, "/ignored", { ...failing, failurePolicy: "Ignore" }),
      hook(webhooks, "/false", conditions("object.data.missing == '1'", "false")),
    );
    expect((await makeMap(server, cluster, { name: "a", data: {} })).status).to.equal(201);
    await configured("Mutating", hook(webhooks, "/failing", failing));
    const { status, body } = await makeMap(server, cluster, { name: "b", data: {} });
    expect([status, body.message]).to.deep.equal([
      403,
      "configmaps \"b\" is forbidden: expression 'object.data.missing == '1'' resulted in error: no such key",
    ]);
    expect([...webhooks.calls("/ignored"), ...webhooks.calls("/false"), ...webhooks.calls("/failing")]).to.deep.equal(
      [],
    );
  });

  it("warn the client", async () => {
    webhooks.at("/warn", () => ({ warnings: ["use an empty map", 'and "quotes"'] }));
    await configured("Validating", hook(webhooks, "/warn"));
    const { headers } = await makeMap(server, cluster, { name: "a" });
    expect(headers["warning"]).to.equal('299 - "use an empty map", 299 - "and \\"quotes\\""');
  });

  it("annotate the audit event, with patches and ignored failures, and keep the server's annotations", async () => {
    webhooks.at("/annotate", () => ({
      patch: [{ op: "add", path: "/data", value: { a: "b" } }],
      auditAnnotations: { why: "because" },
    }));
    webhooks.at("/forge", () => ({ auditAnnotations: { workspace: "forged", decision: "forged" } }));
    const ignored = { failurePolicy: "Ignore", clientConfig: { url: "https://127.0.0.1:3/none" } };
    await configured(
      "Mutating",
      hook(webhooks, "/annotate"),
      hook(webhooks, "/forge", { name: "tenancy.kcp.io" }),
      hook(webhooks, "/none", ignored),
    );
    await configured("Validating", hook(webhooks, "/none", ignored));
    const name = "annotated";
    expect((await makeMap(server, cluster, { name })).status).to.equal(201);
    expectFault(/cannot call an admission webhook/);
    const isIt = ({ stage, verb, objectRef }: AuditEvent): boolean =>
      stage === "ResponseComplete" && verb === "create" && objectRef?.name === name;
    await until(() => events.some(isIt));
    const { annotations = {} } = events.find(isIt) ?? { annotations: {} };
    const about = { configuration: "test", webhook: "annotate.example.dev" };
    expect(annotations).to.deep.include({
      "annotate.example.dev/why": "because",
      "mutation.webhook.admission.k8s.io/round_0_index_0": JSON.stringify({ ...about, mutated: true }),
      "patch.webhook.admission.k8s.io/round_0_index_0": JSON.stringify({
        ...about,
        patch: [{ op: "add", path: "/data", value: { a: "b" } }],
        patchType: "JSONPatch",
      }),
      "failed-open.mutation.webhook.admission.k8s.io/round_0_index_2": "none.example.dev",
      "failed-open.validating.webhook.admission.k8s.io/round_0_index_0": "none.example.dev",
      "authorization.k8s.io/decision": "allow",
      "tenancy.kcp.io/workspace": cluster,
    });
  });

  it("are counted in metrics without their names", async () => {
    const before = await families();
    webhooks.at("/counted", ({ name }) => ({ allowed: name !== "no" }));
    const ignored = { failurePolicy: "Ignore", clientConfig: { url: "https://127.0.0.1:4/none" } };
    await configured("Validating", hook(webhooks, "/counted"), hook(webhooks, "/gone", ignored));
    await makeMap(server, cluster, { name: "yes" });
    await makeMap(server, cluster, { name: "no" });
    expectFault(/cannot call an admission webhook/);
    const after = await families();
    const grown = (family: string, series: string): number => {
      const value = (of: ReadonlyMap<string, ExposedFamily>): number =>
        of.get(`apiserver_admission_webhook_${family}`)?.series.get(`apiserver_admission_webhook_${series}`) ?? 0;
      return value(after) - value(before);
    };
    const labels = (rejected: boolean) => `{operation="CREATE",rejected="${rejected}",type="validating"}`;
    const seconds = "admission_duration_seconds";
    expect(grown(seconds, `${seconds}_count${labels(true)}`)).to.equal(1);
    expect(grown(seconds, `${seconds}_count${labels(false)}`)).to.equal(3);
    const rejection = 'rejection_count{error_type="no_error",operation="CREATE",type="validating"}';
    expect(grown("rejection_count", rejection)).to.equal(1);
    expect(grown("fail_open_count", 'fail_open_count{type="validating"}')).to.equal(2);
  });

  const families = async () => parseExposition((await server.get("/metrics", { user: "root" })).text);
});
