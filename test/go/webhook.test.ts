// Webhooks of controller-runtime, as operators in Go have them, judge what kubectl writes in a workspace.
import { join } from "node:path";
import { expect } from "chai";
import { type Tree, tree } from "../_setup/tree.ts";
import { Start } from "../cli/support/start.ts";
import { building } from "./support/build.ts";
import { GoClient } from "./support/client.ts";

describe("webhooks of controller-runtime", function () {
  this.timeout(120_000);
  let folder: Tree;
  let server: Start;
  let webhook: GoClient;

  before(async function () {
    await building("clients").call(this);
    folder = tree({});
    server = await Start.ready({ in: folder.path, flags: ["--admission-webhook-allow=127.0.0.1"] });
    webhook = GoClient.start("webhook", { kubeconfig: server.home.kubeconfig });
    const { url, ca } = await webhook.event("serving");
    const of = (kind: string, path: string, operations: readonly string[]): object => ({
      apiVersion: "admissionregistration.k8s.io/v1",
      kind: `${kind}WebhookConfiguration`,
      metadata: { name: "maps" },
      webhooks: [
        {
          name: "maps.example.dev",
          clientConfig: { url: url + path, caBundle: Buffer.from(ca).toString("base64") },
          rules: [{ operations, apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps"] }],
          objectSelector: { matchLabels: { judged: "yes" } },
          sideEffects: "None",
          admissionReviewVersions: ["v1"],
        },
      ],
    });
    const configurations = {
      ...{ apiVersion: "v1", kind: "List" },
      items: [of("Mutating", "/default", ["CREATE"]), of("Validating", "/validate", ["CREATE", "UPDATE", "DELETE"])],
    };
    expect(await apply("configurations", configurations)).to.match(/^0 /);
  });
  after(async () => {
    await webhook?.[Symbol.asyncDispose]();
    await server?.[Symbol.asyncDispose]();
    folder?.[Symbol.dispose]();
  });

  /** Applies an object, with the flags. */
  async function apply(name: string, object: object, ...flags: readonly string[]): Promise<string> {
    using file = tree({ [`${name}.json`]: JSON.stringify(object) });
    return await server.kubectl("apply", "-f", join(file.path, `${name}.json`), ...flags);
  }

  const map = (name: string, data: object, labels: object = {}): object => ({
    ...{ apiVersion: "v1", kind: "ConfigMap", data },
    metadata: { name, labels: { judged: "yes", ...labels } },
  });

  it("set defaults, and see the user, the workspace and dry runs", async () => {
    expect(await apply("a", map("a", {}), "--dry-run=server")).to.equal("0 configmap/a created (server dry run)");
    expect(await apply("a", map("a", {}))).to.equal("0 configmap/a created");
    expect(await server.kubectl("get", "configmap", "a", "-o", "jsonpath={.data}")).to.equal('0 {"color":"red"}');
    const seen = webhook.all("validated").map(({ name, user, cluster, operation, dryRun }) => {
      return { name, user, cluster, operation, dryRun };
    });
    const common = { name: "a", user: "kcp-admin", cluster: "root", operation: "CREATE" };
    expect(seen).to.deep.equal([true, false].map((dryRun) => ({ ...common, dryRun })));
  });

  it("reject creates, updates and deletes, and warn", async () => {
    const denied = (why: string): string => `admission webhook "maps.example.dev" denied the request: ${why}`;
    expect(await apply("b", map("b", { color: "black" }))).to.include(denied("data.color: black is not in stock"));
    const blue = await apply("b", map("b", { color: "blue" }, { keep: "yes" }));
    expect(blue).to.include("Warning: blue is rare").and.include("configmap/b created");
    expect(await apply("b", map("b", { color: "red" }, { keep: "yes" }))).to.include(
      denied("data.color: blue must stay"),
    );
    expect(await server.kubectl("delete", "configmap", "b")).to.include(denied("b is kept"));
    expect(await server.kubectl("label", "configmap", "b", "keep-")).to.include("configmap/b unlabeled");
    expect(await server.kubectl("delete", "configmap", "b")).to.match(/^0 configmap "b" deleted/);
  });
});
