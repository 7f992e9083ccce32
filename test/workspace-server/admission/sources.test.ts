// Whose webhooks judge an object: those of exactly one workspace.
import { apiExportView } from "@virtual-workspaces/apiexport";
import { memoryStore } from "@virtual-workspaces/store";
import { builtInKinds, loopback } from "@virtual-workspaces/workspace-server";
import { expect } from "chai";
import { crd } from "../../_support/crd.ts";
import { makeOn, Stores, startSharded } from "../shards/support.ts";
import { define, makeWorkspace } from "../support/logical-clusters.ts";
import { ClusterClient } from "../support/objects.ts";
import { startWorkspaces } from "../support/workspaces.ts";
import { anywhere, configure, hook, makeMap, startConfigured } from "./support/configured.ts";
import { bindQuotes, exportQuotes, QUOTES, quote } from "./support/quotes.ts";
import { WebhookServer } from "./support/webhook.ts";

const rules = (apiGroup: string, resource: string, version = "*") => ({
  rules: [{ operations: ["CREATE"], apiGroups: [apiGroup], apiVersions: [version], resources: [resource] }],
});
const ofQuotes = rules("example.dev", "quotes");

describe("the workspace whose webhooks judge an object", function () {
  this.timeout(60_000);
  let webhooks: WebhookServer;
  beforeEach(async () => {
    webhooks = await WebhookServer.start();
  });
  afterEach(() => webhooks[Symbol.asyncDispose]());
  const seen = (path: string): string[] =>
    webhooks
      .calls(path)
      .map(({ object }) => `${object.metadata.name} ${object.metadata.annotations["kcp.io/cluster"]}`);

  it("is the exporter's for a bound resource, and never the consumer's", async () => {
    await using server = await startConfigured();
    const [provider, consumer] = [await makeWorkspace(server, "provider"), await makeWorkspace(server, "consumer")];
    for (const [cluster, path] of [
      [provider, "/provider"],
      [consumer, "/consumer"],
    ] as const)
      for (const kind of ["Mutating", "Validating"] as const)
        await configure(server, cluster, {
          kind,
          name: "test",
          webhooks: [hook(webhooks, `${path}/${kind.toLowerCase()}`, ofQuotes)],
        });
    await exportQuotes(server, provider);
    const client = await bindQuotes(server, consumer, provider);
    await client.create(QUOTES, quote("a"));
    await (await bindQuotes(server, provider, provider)).create(QUOTES, quote("b"));
    for (const kind of ["mutating", "validating"])
      expect(seen(`/provider/${kind}`)).to.deep.equal([`a ${consumer}`, `b ${provider}`]);
    expect([...seen("/consumer/mutating"), ...seen("/consumer/validating")]).to.deep.equal([]);
  });

  it("is on another shard, if the exporter is", async () => {
    await using stores = new Stores();
    await using server = await startSharded(stores, { admissionWebhooks: anywhere });
    const provider = await makeWorkspace(server, "provider");
    const consumer = await makeOn(server, "consumer", { shard: "shard-1" });
    await exportQuotes(server, provider);
    const client = await bindQuotes(server, consumer, provider);
    await client.create(QUOTES, quote("before"));
    await configure(server, provider, {
      kind: "Validating",
      name: "test",
      webhooks: [hook(webhooks, "/far", ofQuotes)],
    });
    await client.create(QUOTES, quote("a"));
    expect(seen("/far")).to.deep.equal([`a ${consumer}`]);
  });

  it("is the same for requests through the view of an export, whose user the webhook sees", async () => {
    const own = loopback();
    const { upstream, identity } = own;
    const view = apiExportView({ upstream, identity, kinds: builtInKinds.map(({ resource }) => resource) });
    await using server = await startConfigured({ loopback: own, virtualWorkspaces: [view] });
    const [provider, consumer] = [await makeWorkspace(server, "provider"), await makeWorkspace(server, "consumer")];
    webhooks.at("/view", ({ name }) => ({ allowed: name !== "no", status: { message: "no" } }));
    await configure(server, provider, {
      kind: "Validating",
      name: "test",
      webhooks: [hook(webhooks, "/view", ofQuotes)],
    });
    await exportQuotes(server, provider);
    await bindQuotes(server, consumer, provider);
    await configure(server, provider, {
      kind: "Mutating",
      name: "test",
      webhooks: [hook(webhooks, "/text", ofQuotes)],
    });
    webhooks.at("/text", () => ({ patch: [{ op: "add", path: "/spec/text", value: "given" }] }));
    const path = `/services/apiexport/${provider}/quotes/clusters/${consumer}${QUOTES}` as const;
    const statuses: number[] = [];
    for (const name of ["yes", "no"])
      statuses.push((await server.send(`POST ${path}`, quote(name), { user: "root" })).status);
    expect(statuses).to.deep.equal([201, 400]);
    expect(webhooks.calls("/view").map(({ object }) => object.spec.text)).to.deep.equal(["given", "given"]);
    expect((await server.get(`${path}/yes`, { user: "root" })).body.spec).to.deep.equal({ text: "given" });
    expect(seen("/view")).to.deep.equal([`yes ${consumer}`, `no ${consumer}`]);
    expect(webhooks.calls("/view").map(({ userInfo }) => userInfo.username)).to.deep.equal([
      "shard-admin",
      "shard-admin",
    ]);
  });

  it("keeps its configurations over a restart, and in the cache view", async () => {
    await using store = memoryStore();
    const webhook = hook(webhooks, "/kept", { failurePolicy: "Fail" });
    const start = () => startWorkspaces(store, { admissionWebhooks: anywhere });
    await using before = await start();
    await configure(before, "root", { kind: "Validating", name: "kept", webhooks: [webhook] });
    await before[Symbol.asyncDispose]();
    webhooks.at("/kept", () => ({ allowed: false }));
    await using server = await start();
    expect((await makeMap(server, "root", { name: "a" })).status).to.equal(400);
    const kinds = "apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
    const cached = await server.get(`/services/cache/shards/*/clusters/*/${kinds}`, { user: "root" });
    expect(cached.body.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name)).to.deep.equal([
      "kept",
    ]);
  });

  it("is root for Workspaces everywhere", async () => {
    await using server = await startConfigured();
    const parent = await makeWorkspace(server, "parent");
    const ofWorkspaces = rules("tenancy.kcp.io", "workspaces");
    for (const [cluster, path] of [
      ["root", "/root"],
      [parent, "/parent"],
    ] as const)
      await configure(server, cluster, {
        kind: "Validating",
        name: "test",
        webhooks: [hook(webhooks, path, ofWorkspaces)],
      });
    webhooks.at("/root", ({ name }) => ({ allowed: name !== "forbidden" }));
    const make = (name: string) => {
      const spec = { type: { name: "universal", path: "root" } };
      const workspace = { apiVersion: "tenancy.kcp.io/v1alpha1", kind: "Workspace", metadata: { name }, spec };
      const path = `/clusters/${parent}/apis/tenancy.kcp.io/v1alpha1/workspaces` as const;
      return server.send(`POST ${path}`, workspace, { user: "root" });
    };
    expect((await make("forbidden")).status).to.equal(400);
    expect((await make("fine")).status).to.equal(201);
    expect(seen("/root")).to.deep.equal([`forbidden ${parent}`, `fine ${parent}`]);
    expect(seen("/parent")).to.deep.equal([]);
  });

  it("is its own for custom kinds, whose versions are equivalent unless the policy is Exact", async () => {
    await using server = await startConfigured();
    const cluster = await makeWorkspace(server, "own");
    const schema = { openAPIV3Schema: { type: "object", properties: { spec: { type: "object" } } } };
    const versions = [
      { name: "v1", served: true, storage: true, schema },
      { name: "v2", served: true, storage: false, schema },
    ];
    await define(server, cluster, [crd("Note", { scope: "Cluster", spec: { versions } })]);
    const only = rules("example.dev", "notes", "v1");
    const webhook = (path: string, more: object) => hook(webhooks, path, { ...only, ...more });
    await configure(server, cluster, {
      kind: "Validating",
      name: "test",
      webhooks: [webhook("/equivalent", {}), webhook("/exact", { matchPolicy: "Exact" })],
    });
    const client = new ClusterClient(server, cluster);
    for (const version of ["v1", "v2"])
      await client.create(`/apis/example.dev/${version}/notes`, {
        apiVersion: `example.dev/${version}`,
        kind: "Note",
        metadata: { name: version },
      });
    const told = (path: string) =>
      webhooks
        .calls(path)
        .map(({ object, kind, requestKind }) => [object.apiVersion, kind.version, requestKind.version].join(" "));
    expect(told("/equivalent")).to.deep.equal(["example.dev/v1 v1 v1", "example.dev/v1 v1 v2"]);
    expect(told("/exact")).to.deep.equal(["example.dev/v1 v1 v1"]);
  });
});
