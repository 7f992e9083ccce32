// Whose policies judge an object: those of exactly one workspace, with params of that workspace.
import { apiExportView } from "@virtual-workspaces/apiexport";
import { builtInKinds, loopback } from "@virtual-workspaces/workspace-server";
import { expect } from "chai";
import type { Calls } from "../../_support/plain.ts";
import { makeOn, Stores, startSharded } from "../shards/support.ts";
import { makeWorkspace } from "../support/logical-clusters.ts";
import { startConfigured } from "./support/configured.ts";
import { enact, revoke } from "./support/policies.ts";
import { bindQuotes, exportQuotes, QUOTES, quote } from "./support/quotes.ts";

const user = "root";
const matchConstraints = {
  resourceRules: [{ operations: ["CREATE"], apiGroups: ["example.dev"], apiVersions: ["*"], resources: ["quotes"] }],
};
const rejecting = (message: string) => ({ matchConstraints, validations: [{ expression: "false", message }] });
const labeling = {
  matchConstraints,
  mutations: [
    {
      patchType: "ApplyConfiguration",
      applyConfiguration: {
        expression: "Object{metadata: Object.metadata{labels: {'by': object.metadata.annotations['kcp.io/cluster']}}}",
      },
    },
  ],
};

describe("the workspace whose policies judge an object", function () {
  this.timeout(60_000);
  const create = (server: Calls, cluster: string, name: string) =>
    server.send(`POST /clusters/${cluster}${QUOTES}`, quote(name), { user });

  it("is the exporter's for a bound resource, and never the consumer's", async () => {
    await using server = await startConfigured();
    const [provider, consumer] = [await makeWorkspace(server, "provider"), await makeWorkspace(server, "consumer")];
    await exportQuotes(server, provider);
    await bindQuotes(server, consumer, provider);
    await enact(server, consumer, { kind: "Validating", spec: rejecting("consumer") });
    expect((await create(server, consumer, "a")).status).to.equal(201);
    await enact(server, provider, { kind: "Mutating", spec: labeling });
    expect((await create(server, consumer, "b")).body.metadata.labels).to.deep.equal({ by: consumer });
    await enact(server, provider, { kind: "Validating", spec: rejecting("provider") });
    const { body } = await create(server, consumer, "c");
    expect([body.code, body.message]).to.deep.equal([
      422,
      "quotes.example.dev \"c\" is forbidden: ValidatingAdmissionPolicy 'test' with binding 'test-binding' denied request: provider",
    ]);
    await revoke(server, provider, { kind: "Validating" });
    expect((await create(server, consumer, "c")).status).to.equal(201);
  });

  it("may be on another shard, with its params", async () => {
    await using stores = new Stores();
    await using server = await startSharded(stores, {});
    const provider = await makeWorkspace(server, "provider");
    const consumer = await makeOn(server, "consumer", { shard: "shard-1" });
    await exportQuotes(server, provider);
    await bindQuotes(server, consumer, provider);
    const map = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "settings" }, data: { prefix: "q-" } };
    const maps = `/clusters/${provider}/api/v1/namespaces/default/configmaps` as const;
    expect((await server.send(`POST ${maps}`, map, { user })).status).to.equal(201);
    await enact(server, provider, {
      kind: "Validating",
      spec: {
        paramKind: { apiVersion: "v1", kind: "ConfigMap" },
        matchConstraints,
        validations: [
          {
            expression: "object.metadata.name.startsWith(params.data.prefix)",
            messageExpression: "'begin with ' + params.data.prefix",
          },
        ],
      },
      binding: { paramRef: { name: "settings", namespace: "default", parameterNotFoundAction: "Deny" } },
    });
    expect((await create(server, consumer, "a")).body.message).to.contain("denied request: begin with q-");
    expect((await create(server, consumer, "q-a")).status).to.equal(201);
  });

  it("is the same for requests through the view of an export, whose user the policy sees", async () => {
    const own = loopback();
    const { upstream, identity } = own;
    const view = apiExportView({ upstream, identity, kinds: builtInKinds.map(({ resource }) => resource) });
    await using server = await startConfigured({ loopback: own, virtualWorkspaces: [view] });
    const [provider, consumer] = [await makeWorkspace(server, "provider"), await makeWorkspace(server, "consumer")];
    await exportQuotes(server, provider);
    await bindQuotes(server, consumer, provider);
    await enact(server, provider, {
      kind: "Validating",
      spec: {
        matchConstraints,
        validations: [{ expression: "object.metadata.name != 'no'", messageExpression: "request.userInfo.username" }],
      },
    });
    const path = `/services/apiexport/${provider}/quotes/clusters/${consumer}${QUOTES}` as const;
    expect((await server.send(`POST ${path}`, quote("yes"), { user })).status).to.equal(201);
    expect((await server.send(`POST ${path}`, quote("no"), { user })).body.message).to.match(/denied request: \S+$/);
  });
});
