// Metadata of all logical clusters, as controllers for kcp read it: with client-go's metadata client and informers over
// /clusters/*.
import { expect } from "chai";
import type { Answer } from "../_support/plain.ts";
import { createAuthority, type KubeconfigHome, kubeconfigHome, type TestAuthority } from "../_support/server.ts";
import { Caller } from "../differential/caller.ts";
import { definition } from "../workspace-server/crds/definitions.ts";
import {
  binding,
  paths,
  widget,
  widgetExport,
  widgetSchema,
  workspace,
} from "../workspace-server/faults/support/tree.ts";
import { type Body, ClusterClient } from "../workspace-server/support/objects.ts";
import { startWorkspaces, type Workspaces } from "../workspace-server/support/workspaces.ts";
import { building } from "./support/build.ts";
import { GoClient } from "./support/client.ts";

const WIDGETS = "/apis/example.dev/v1/widgets";

/** Returns the same calls over TLS. */
function callsTo(server: Workspaces, { ca }: TestAuthority) {
  const caller = new Caller({ url: server.url, headers: {}, tls: { ca } });
  const ask = async (call: string, body?: unknown, headers: object = {}): Promise<Answer> => {
    const [method = "", path = ""] = call.split(" ");
    const type = body === undefined ? {} : { "content-type": "application/json" };
    const all = { authorization: "Bearer root", accept: "application/json", ...type, ...headers };
    const sent = body === undefined ? undefined : JSON.stringify(body);
    const { status, headers: given, text } = await caller.call({ method, path, body: sent, headers: all });
    return { status, headers: given, text, body: text.startsWith("{") ? JSON.parse(text) : undefined };
  };
  return {
    get: (path: string) => ask(`GET ${path}`),
    send: (call: string, body?: unknown, options: { readonly headers?: object } = {}) =>
      ask(call, body, options.headers),
    watch: () => Promise.reject(new Error("nobody watches here")),
    [Symbol.dispose]: () => caller[Symbol.dispose](),
  };
}

describe("metadata of all logical clusters", function () {
  this.timeout(120_000);
  const authority = createAuthority();
  let server: Workspaces;
  let home: KubeconfigHome;
  let calls: ReturnType<typeof callsTo>;
  const clusters: Record<string, string> = {};
  const at = (name: string): ClusterClient => new ClusterClient(calls, clusters[name]);

  before(async function () {
    await building("clients").call(this);
    server = await startWorkspaces(undefined, { authority });
    calls = callsTo(server, authority);
    const root = new ClusterClient(calls);
    for (const name of ["one", "two", "provider", "consumer"]) {
      await root.create(paths.WORKSPACES, workspace(name));
      const { body } = await root.until(
        `${paths.WORKSPACES}/${name}`,
        (answer) => answer.body.status?.phase === "Ready",
      );
      clusters[name] = body.spec.cluster;
    }
    await at("one").widgets("Cluster");
    const v2 = definition({ spec: { scope: "Cluster" } }) as Body;
    v2.spec.versions = [{ ...v2.spec.versions[0], name: "v2" }];
    await at("two").create(paths.CRDS, v2);
    await at("two").until("/apis/example.dev/v2/widgets", ({ status }) => status === 200);
    const provider = at("provider");
    await provider.create(paths.SCHEMAS, widgetSchema());
    await provider.create(paths.EXPORTS, widgetExport("widgets"));
    await provider.until(`${paths.EXPORTS}/widgets`, ({ body }) => body.status?.identityHash !== undefined);
    await at("consumer").create(paths.BINDINGS, binding("widgets", "root:provider"));
    await at("consumer").until(`${paths.BINDINGS}/widgets`, ({ body }) => body.status?.phase === "Bound");
    home = await kubeconfigHome({
      authority,
      port: Number(new URL(server.url).port),
      contexts: { all: "/clusters/*" },
      token: "root",
    });
  });

  after(async () => {
    home?.[Symbol.dispose]();
    calls?.[Symbol.dispose]();
    await server?.[Symbol.asyncDispose]();
  });

  const made = async (name: string, version = "v1"): Promise<[string, string]> => {
    const object = { ...widget(`${name}-1`), apiVersion: `example.dev/${version}` };
    const { metadata } = await at(name).create(`/apis/example.dev/${version}/widgets`, object);
    return [metadata.name, metadata.resourceVersion];
  };

  it("syncs an informer, which receives the changes", async () => {
    const resource = "widgets.v1.example.dev";
    await using client = GoClient.start("metadata-informer", { kubeconfig: home.kubeconfig, flags: { resource } });
    expect((await client.event("synced"))["count"]).to.equal(0);
    const versions = new Map([await made("one"), await made("two", "v2"), await made("consumer")]);
    await client.holds(versions);
    const { body } = await at("one").patch(`${WIDGETS}/one-1`, { metadata: { labels: { a: "b" } } });
    versions.set("one-1", body.metadata.resourceVersion);
    await at("consumer").delete(`${WIDGETS}/consumer-1`);
    versions.delete("consumer-1");
    await client.holds(versions);
    const { objects } = await client.state();
    expect(objects["two-1"].metadata.annotations).to.deep.equal({
      "kcp.io/cluster": clusters["two"],
      "kcp.io/original-api-version": "example.dev/v2",
    });
    expect(client.verbs()).to.deep.equal(["watchlist"]);
    expect(client.noise()).to.deep.equal([]);
    await client.end();
  });

  it("identifies each object, with its cluster and served version", async () => {
    const resource = "widgets.v9.example.dev";
    await using client = GoClient.start("marker", { kubeconfig: home.kubeconfig, flags: { resource } });
    await made("consumer");
    for (const [name, version] of [
      ["one", "v1"],
      ["two", "v2"],
      ["consumer", "v1"],
    ] as const) {
      await client.event("marked", (told) => told["name"] === `${name}-1`);
      const { body } = await at(name).get(`/apis/example.dev/${version}/widgets/${name}-1`);
      expect(body.metadata.labels).to.deep.include({ marked: version });
    }
    expect(client.noise()).to.deep.equal([]);
    await client.end();
  });

  it("is the same for built-in kinds", async () => {
    const map = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "map", labels: { is: "ours" } } };
    await at("two").create(paths.MAPS, map);
    const flags = { resource: "configmaps.v1.", labels: "is=ours" };
    await using client = GoClient.start("marker", { kubeconfig: home.kubeconfig, flags });
    expect(await client.event("marked")).to.deep.include({ name: "map", cluster: clusters["two"], version: "v1" });
    await client.end();
  });
});
