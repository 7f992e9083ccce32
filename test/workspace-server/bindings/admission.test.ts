// Why: invalid exports, schemas, bindings and slices are rejected in both versions.
import { expect } from "chai";
import { MERGE } from "../../_support/patches.ts";
import { outcome, type PlainServer } from "../../_support/plain.ts";
import { until } from "../../_support/until.ts";
import { APIS, bindingOf, exportOf, pathOf, schemaOf, TestShard, url } from "./support/shard.ts";

const V1 = "/apis/apis.kcp.io/v1alpha1";

describe("admission of exports and bindings", () => {
  let shard: TestShard;
  let server: PlainServer;
  let allowed: boolean;

  beforeEach(async () => {
    allowed = true;
    shard = await new TestShard({ mayBind: () => allowed }).start();
    server = await shard.serve();
    await shard.clusters("provider", "a");
  });

  afterEach(async () => {
    await server[Symbol.asyncDispose]();
    await shard[Symbol.asyncDispose]();
  });

  const refused = async (path: string, body: object, cluster = "provider"): Promise<unknown> =>
    outcome(await server.send(`POST ${url(cluster, path)}`, body));
  const forbidden = (resource: string, name: string, text: string): unknown[] => [
    403,
    "Forbidden",
    `${resource}.apis.kcp.io "${name}" is forbidden: ${text}`,
  ];
  const object = (kind: string, version: string, spec: object): object => ({
    apiVersion: `apis.kcp.io/${version}`,
    kind,
    metadata: { name: "x" },
    spec,
  });

  it("rejects claims without an identity, and schemas whose name does not match", async () => {
    const claim = { group: "wild.west", resource: "sheriffs" };
    const text =
      'spec.permissionClaims[0].identityHash: Invalid value: "": identityHash is required for API types that are not built-in';
    const verbs = { ...claim, verbs: ["get"] };
    expect(await refused(`${APIS}/apiexports`, exportOf("x", [], { permissionClaims: [verbs] }))).to.deep.equal(
      forbidden("apiexports", "x", text),
    );
    const older = object("APIExport", "v1alpha1", { permissionClaims: [{ ...claim, all: true }] });
    expect(await refused(`${V1}/apiexports`, older)).to.deep.equal(forbidden("apiexports", "x", text));
    const resources = [{ group: "a.dev", name: "widgets", schema: "v1.gadgets.a.dev" }];
    expect(await refused(`${APIS}/apiexports`, object("APIExport", "v1alpha2", { resources }))).to.deep.equal(
      forbidden(
        "apiexports",
        "x",
        'spec.resources[0].schema: Invalid value: "v1.gadgets.a.dev": must end in .widgets.a.dev',
      ),
    );
    for (const resource of ["secrets", "configmaps", "namespaces"]) {
      const builtIn = exportOf(resource, [], { permissionClaims: [{ resource, verbs: ["*"] }] });
      expect((await server.send(`POST ${url("provider", `${APIS}/apiexports`)}`, builtIn)).status).to.equal(201);
    }
  });

  it("rejects invalid schemas, and every change of a schema", async () => {
    const schemas = `${V1}/apiresourceschemas`;
    const named = schemaOf("v1") as { metadata: { name: string } };
    const wrong = { ...named, metadata: { name: "v1.gadgets.example.dev" } };
    expect(await refused(schemas, wrong)).to.deep.equal(
      forbidden(
        "apiresourceschemas",
        "v1.gadgets.example.dev",
        '[metadata.name: Invalid value: "v1.gadgets.example.dev": must end in .widgets.example.dev]',
      ),
    );
    expect((await server.send(`POST ${url("provider", schemas)}`, named)).status).to.equal(201);
    const path = url("provider", `${schemas}/v1.widgets.example.dev`);
    const changed = await server.send(`PATCH ${path}`, { spec: { scope: "Namespaced" } }, MERGE);
    expect(outcome(changed)).to.deep.equal(
      forbidden("apiresourceschemas", "v1.widgets.example.dev", "[spec: Invalid value: is immutable]"),
    );
    expect((await server.send(`PATCH ${path}`, { metadata: { labels: { a: "b" } } }, MERGE)).status).to.equal(200);
  });

  it("rejects ambiguous selectors, and slices and bindings of exports that the user may not bind", async () => {
    const claim = { resource: "configmaps", verbs: ["*"], state: "Accepted" };
    const selector = { matchAll: true, matchLabels: { a: "b" } };
    const both = bindingOf("x", "x", [{ ...claim, selector }]);
    const [, , message] = (await refused(`${APIS}/apibindings`, both, "a")) as string[];
    expect(message).to.match(
      /^apibindings.apis.kcp.io "x" is forbidden: \[spec.permissionClaims\[0\].selector.matchLabels: Invalid value: .*: matchLabels cannot be used with matchAll\]$/,
    );
    const slice = (spec: object): Promise<unknown> =>
      refused(`${V1}/apiexportendpointslices`, object("APIExportEndpointSlice", "v1alpha1", spec), "a");
    const none = "unable to create APIExportEndpointSlice: no permission to bind to export root:provider:none";
    expect(await slice({ export: { path: "root:provider", name: "none" } })).to.deep.equal(
      forbidden("apiexportendpointslices", "x", none),
    );
    allowed = false;
    const own = "unable to create APIExportEndpointSlice: no permission to bind to export none";
    expect(await slice({ export: { name: "none" } })).to.deep.equal(forbidden("apiexportendpointslices", "x", own));
    const older = object("APIBinding", "v1alpha1", { reference: { export: { name: "none" } } });
    expect(await refused(`${V1}/apibindings`, older, "a")).to.deep.equal(
      forbidden("apibindings", "x", "unable to create APIBinding: no permission to bind to export none"),
    );
  });

  it("protects the fields of the server: path, label and finalizer", async () => {
    const made = bindingOf("w", `${pathOf("provider")}:widgets`) as { metadata: object };
    expect(
      (await server.send(`POST ${url("provider", `${APIS}/apiexports`)}`, exportOf("widgets", []))).status,
    ).to.equal(201);
    const metadata = {
      name: "w",
      annotations: { "kcp.io/path": "root:elsewhere" },
      labels: { "internal.apis.kcp.io/export": "x" },
    };
    const { body } = await server.send(`POST ${url("a", `${APIS}/apibindings`)}`, { ...made, metadata });
    expect(body.metadata.annotations["kcp.io/path"]).to.equal("root:a");
    const { "internal.apis.kcp.io/export": label } = body.metadata.labels;
    expect(label).to.not.equal("x");
    const path = url("a", `${APIS}/apibindings/w`);
    const changes = { metadata: { finalizers: null, labels: { "internal.apis.kcp.io/export": null } } };
    const { body: kept } = await server.send(`PATCH ${path}`, changes, MERGE);
    expect(kept.metadata.finalizers).to.deep.equal(["apis.kcp.io/apibinding-finalizer"]);
    expect(kept.metadata.labels["internal.apis.kcp.io/export"]).to.equal(label);
    await until(() => shard.binding("a", "w").status?.phase === "Bound");
    const back = await server.send(`PATCH ${path}/status`, { status: { phase: null } }, MERGE);
    expect(outcome(back)).to.deep.equal(
      forbidden("apibindings", "w", '[status.phase: Forbidden: cannot transition from "Bound" to ""]'),
    );
  });

  it("rejects removal of the finalizer from a terminating binding, except by the server", async () => {
    await server.send(`POST ${url("provider", `${V1}/apiresourceschemas`)}`, schemaOf("v1"));
    await server.send(`POST ${url("provider", `${APIS}/apiexports`)}`, exportOf("widgets", ["v1.widgets.example.dev"]));
    await server.send(`POST ${url("a", `${APIS}/apibindings`)}`, bindingOf("w", `${pathOf("provider")}:widgets`));
    await until(() => shard.binding("a", "w")?.status?.phase === "Bound");
    const held = { apiVersion: "example.dev/v1", kind: "Widget", metadata: { name: "h", finalizers: ["a.dev/x"] } };
    await server.send(`POST ${url("a", "/apis/example.dev/v1/widgets")}`, held);
    const path = url("a", `${APIS}/apibindings/w`);
    await server.send(`DELETE ${path}`);
    const taken = await server.send(`PATCH ${path}`, { metadata: { finalizers: null } }, MERGE);
    expect(outcome(taken)).to.deep.equal(
      forbidden("apibindings", "w", "removing the finalizer apis.kcp.io/apibinding-finalizer is forbidden"),
    );
  });
});
