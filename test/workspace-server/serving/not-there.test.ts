// Missing features in docs/reference/kcp/differences.md: users must not mistake a rule without effect for an enforced one.
import { expect } from "chai";
import { crd } from "../../_support/crd.ts";
import { startWorkspaces } from "../support/workspaces.ts";

const user = "root";
const CRDS = "/clusters/root/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

describe("unsupported admission rules", () => {
  it("cannot be created, or show no enforcement in their status", async () => {
    await using server = await startWorkspaces();
    const quotas = "/clusters/root/api/v1/namespaces/default/resourcequotas" as const;
    const quota = {
      apiVersion: "v1",
      kind: "ResourceQuota",
      metadata: { name: "q" },
      spec: { hard: { pods: "0" } },
    };
    const stored = await server.send(`POST ${quotas}`, quota, { user });
    expect([stored.status, stored.body.status]).to.deep.equal([201, undefined]);
    expect(stored.headers["warning"]).to.match(/spec\.hard\[pods\]/);
    const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "s" } };
    const secrets = "/clusters/root/api/v1/namespaces/default/secrets" as const;
    expect((await server.send(`POST ${secrets}`, secret, { user })).status).to.equal(201);
    const webhook = { clientConfig: { url: "https://x.example" }, conversionReviewVersions: ["v1"] };
    const conversion = { strategy: "Webhook", webhook };
    const thing = crd("Thing", { group: "test.dev", scope: "Cluster", spec: { conversion } });
    const refused = await server.send(`POST ${CRDS}`, thing, { user });
    expect([refused.status, refused.body.message]).to.deep.equal([
      422,
      'CustomResourceDefinition.apiextensions.k8s.io "things.test.dev" is invalid: spec.conversion.strategy: Invalid value: "Webhook": conversion webhooks are not supported: use None, with equal schemas',
    ]);
  });
});
