// Why: bound exports through a real server: where they are served, and whose objects are visible.
import { expect } from "chai";
import { MERGE } from "../../_support/patches.ts";
import { outcome, type PlainServer } from "../../_support/plain.ts";
import { until } from "../../_support/until.ts";
import { APIS, bindingOf, exportOf, pathOf, said, schemaOf, TestShard, url, widget } from "./support/shard.ts";

const SCHEMAS = "/apis/apis.kcp.io/v1alpha1/apiresourceschemas";
const WIDGETS = "/apis/example.dev/v1/widgets";

describe("bound exports", function () {
  this.timeout(30_000);
  let shard: TestShard;
  let server: PlainServer;

  beforeEach(async () => {
    shard = await new TestShard().start();
    server = await shard.serve();
    await shard.clusters("provider", "other", "a", "b", "c");
  });

  afterEach(async () => {
    await server[Symbol.asyncDispose]();
    await shard[Symbol.asyncDispose]();
    expect(shard.logged.map(({ message }) => message)).to.deep.equal([]);
  });

  const post = async (cluster: string, path: string, body: object): Promise<void> => {
    const { status, text } = await server.send(`POST ${url(cluster, path)}`, body);
    expect(status, text).to.equal(201);
  };
  const provide = async (cluster = "provider", prefix = "v1", field = "size"): Promise<string> => {
    await post(cluster, SCHEMAS, schemaOf(prefix, {}, field));
    await post(cluster, `${APIS}/apiexports`, exportOf("widgets", [`${prefix}.widgets.example.dev`]));
    return identity(cluster);
  };
  const identity = async (cluster: string): Promise<string> => {
    let hash = "";
    await until(async () => {
      hash = (await server.get(url(cluster, `${APIS}/apiexports/widgets`))).body.status?.identityHash ?? "";
      return hash !== "";
    });
    return hash;
  };
  const bind = async (cluster: string, provider = "provider", name = "w"): Promise<void> => {
    await post(cluster, `${APIS}/apibindings`, bindingOf(name, `${pathOf(provider)}:widgets`));
    await bound(cluster, name);
  };
  const bound = (cluster: string, name = "w"): Promise<true> =>
    until(() => said(shard.binding(cluster, name) as never, "BindingUpToDate") === "True", {
      what: () => JSON.stringify(shard.binding(cluster, name)),
    });
  const names = async (cluster: string, path = WIDGETS): Promise<unknown> => {
    const { status, body } = await server.get(url(cluster, path));
    return status === 200 ? body.items.map((one: { metadata: { name: string } }) => one.metadata.name) : status;
  };

  it("have an identity in a secret, a slice, and URLs", async () => {
    const hash = await provide();
    expect(hash).to.match(/^[0-9a-f]{64}$/);
    const { body } = await server.get(url("provider", `${APIS}/apiexports/widgets`));
    expect(body.spec.identity).to.deep.equal({ secretRef: { namespace: "kcp-system", name: "widgets" } });
    expect(said(body, "IdentityValid")).to.equal("True");
    expect(said(body, "VirtualWorkspaceURLsReady")).to.equal("True");
    const view = "https://one.test/services/apiexport/provider/widgets";
    expect(body.status.virtualWorkspaces).to.deep.equal([{ url: view }]);
    const slice = async () =>
      (await server.get(url("provider", "/apis/apis.kcp.io/v1alpha1/apiexportendpointslices/widgets"))).body;
    await until(async () => said(await slice(), "APIExportValid") === "True");
    expect((await slice()).status.endpoints).to.equal(undefined);
    await bind("a");
    await until(async () => (await slice()).status.endpoints?.[0]?.url === view);
    await server.send(`DELETE ${url("a", `${APIS}/apibindings/w`)}`);
    await until(async () => (await slice()).status.endpoints === undefined);
  });

  it("are served only in the logical clusters that bind them", async () => {
    const hash = await provide();
    await bind("a");
    await bind("b");
    expect(shard.bindings.servedIn("a")).to.equal(shard.bindings.servedIn("b"));
    await post("a", WIDGETS, widget("in-a"));
    await post("b", WIDGETS, widget("in-b"));
    expect(await Promise.all(["a", "b", "c", "provider"].map((cluster) => names(cluster)))).to.deep.equal([
      ["in-a"],
      ["in-b"],
      404,
      404,
    ]);
    expect(await names("a", `${WIDGETS}:${hash}`)).to.deep.equal(["in-a"]);
    expect(await names("*", `${WIDGETS}:${hash}`)).to.deep.equal(["in-a", "in-b"]);
    expect(await names("*")).to.equal(404);
    const { body } = await server.get(url("a", "/apis/example.dev/v1"));
    expect(body.resources.map(({ name }: { name: string }) => name)).to.deep.equal(["widgets"]);
    const binding = shard.binding("a", "w");
    expect(binding.status?.phase).to.equal("Bound");
    expect(said(binding as never, "Ready")).to.equal("True");
    expect(binding.metadata.finalizers).to.deep.equal(["apis.kcp.io/apibinding-finalizer"]);
  });

  it("of different identities have separate objects", async () => {
    const one = await provide("provider");
    const two = await provide("other", "v1");
    expect(one).to.not.equal(two);
    await bind("a", "provider");
    await bind("b", "other");
    await post("a", WIDGETS, widget("in-a"));
    await post("b", WIDGETS, widget("in-b"));
    expect(await names("*", `${WIDGETS}:${one}`)).to.deep.equal(["in-a"]);
    expect(await names("*", `${WIDGETS}:${two}`)).to.deep.equal(["in-b"]);
    expect(await names("a", `${WIDGETS}:${two}`)).to.equal(404);
    expect(await names("*", `${WIDGETS}:${"0".repeat(64)}`)).to.equal(404);
  });

  it("require permission to bind, with the same message for a missing export", async () => {
    await server[Symbol.asyncDispose]();
    await shard[Symbol.asyncDispose]();
    const asked: string[] = [];
    shard = await new TestShard({
      mayBind: ({ name }, cluster, { verb, resource, name: of }) => {
        asked.push(`${name} ${verb} ${resource} ${of} in ${cluster}`);
        return false;
      },
    }).start();
    server = await shard.serve();
    await shard.clusters("provider", "a");
    await provide();
    const refused = (path: string) =>
      server.send(`POST ${url("a", `${APIS}/apibindings`)}`, bindingOf("w", `${path}:widgets`), { user: "bob" });
    const message = (path: string): string =>
      `apibindings.apis.kcp.io "w" is forbidden: unable to create APIBinding: no permission to bind to export ${path}:widgets`;
    expect(outcome(await refused("root:provider"))).to.deep.equal([403, "Forbidden", message("root:provider")]);
    expect(outcome(await refused("root:nothing"))).to.deep.equal([403, "Forbidden", message("root:nothing")]);
    expect(asked).to.deep.equal(["bob bind apiexports widgets in provider"]);
    // A malformed binding must not reveal by the order of errors whether the export exists.
    const malformed = (path: string) => {
      const binding = bindingOf("w", `${path}:widgets`) as { readonly spec: object };
      const spec = { ...binding.spec, permissionClaims: "none" };
      return server.send(`POST ${url("a", `${APIS}/apibindings`)}`, { ...binding, spec }, { user: "bob" });
    };
    const [there, nowhere] = [await malformed("root:provider"), await malformed("root:nothing")];
    expect([there.status, nowhere.status]).to.deep.equal([422, 422]);
  });

  it("are deleted with their objects when the binding is deleted", async () => {
    const hash = await provide();
    await bind("a");
    await bind("b");
    await post("a", WIDGETS, widget("free"));
    await post("a", WIDGETS, widget("held", { metadata: { name: "held", finalizers: ["example.dev/x"] } }));
    await post("b", WIDGETS, widget("other"));
    await server.send(`DELETE ${url("a", `${APIS}/apibindings/w`)}`);
    await until(() => said(shard.binding("a", "w") as never, "BindingResourceDeleteSuccess").startsWith("False"));
    expect(said(shard.binding("a", "w") as never, "BindingResourceDeleteSuccess")).to.equal(
      "False SomeFinalizersRemain Some content in the workspace has finalizers remaining: example.dev/x in 1 resource instances",
    );
    expect(await names("a")).to.deep.equal(["held"]);
    const late = await server.send(`POST ${url("a", WIDGETS)}`, widget("late"));
    expect(outcome(late)).to.deep.equal([
      403,
      "Forbidden",
      'widgets.example.dev "late" is forbidden: create not allowed while custom resource definition is terminating',
    ]);
    const listed = async (cluster: string): Promise<string[]> => {
      const { resources } = (await server.get(url(cluster, "/apis/example.dev/v1"))).body;
      return resources.find(({ name }: { name: string }) => name === "widgets").verbs;
    };
    expect(await listed("a")).to.deep.equal(["delete", "deletecollection", "get", "list", "watch"]);
    expect(await listed("b")).to.include.members(["create", "patch", "update"]);
    await server.send(`PATCH ${url("a", `${WIDGETS}/held`)}`, { metadata: { finalizers: null } }, MERGE);
    await until(() => shard.binding("a", "w") === undefined);
    expect(await names("a")).to.equal(404);
    expect(await names("*", `${WIDGETS}:${hash}`)).to.deep.equal(["other"]);
    await until(() => locks("a") === "{}");
  });

  const locks = (cluster: string): string | undefined =>
    shard.state.logicalCluster(cluster)?.metadata.annotations?.["internal.apis.kcp.io/resource-bindings"];

  it("are bound once: a second binding of the resource waits until the first is deleted", async () => {
    await provide("provider");
    await provide("other", "v1");
    await bind("a", "provider", "first");
    await post("a", `${APIS}/apibindings`, bindingOf("second", `${pathOf("other")}:widgets`));
    await until(() => said(shard.binding("a", "second") as never, "BindingUpToDate").startsWith("False Naming"));
    expect(said(shard.binding("a", "second") as never, "Ready")).to.equal(
      "False NamingConflicts Unable to bind APIs because they are bound by other APIBindings or CRDs: map[widgets.example.dev:{first false}]",
    );
    expect(locks("a")).to.equal('{"widgets.example.dev":{"n":"first"}}');
    await server.send(`DELETE ${url("a", `${APIS}/apibindings/first`)}`);
    await bound("a", "second");
    expect(locks("a")).to.equal('{"widgets.example.dev":{"n":"second"}}');
  });

  it("wait for a CustomResourceDefinition of the same resource, and for names of the group", async () => {
    await provide();
    const crd = (plural: string, kind: string): object => ({
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: `${plural}.example.dev` },
      spec: {
        group: "example.dev",
        names: { plural, kind },
        scope: "Cluster",
        versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } }],
      },
    });
    const CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    await post("a", CRDS, crd("widgets", "Gadget"));
    await post("b", CRDS, crd("gadgets", "Widget"));
    await until(() => locks("a") === '{"widgets.example.dev":{"c":true}}');
    await until(() => locks("b") === '{"gadgets.example.dev":{"c":true}}');
    for (const cluster of ["a", "b"])
      await post(cluster, `${APIS}/apibindings`, bindingOf("w", `${pathOf("provider")}:widgets`));
    for (const cluster of ["a", "b"])
      await until(() => said(shard.binding(cluster, "w") as never, "BindingUpToDate").startsWith("False Naming"));
    expect(said(shard.binding("a", "w") as never, "BindingUpToDate")).to.equal(
      "False NamingConflicts Unable to bind APIs because they are bound by other APIBindings or CRDs: map[widgets.example.dev:{ true}]",
    );
    expect(said(shard.binding("b", "w") as never, "BindingUpToDate")).to.equal(
      'False NamingConflicts Unable to bind APIs: naming conflict with CustomResourceDefinition "gadgets.example.dev": spec.names.singular=widget is forbidden',
    );
    await server.send(`DELETE ${url("a", `${CRDS}/widgets.example.dev`)}`);
    await server.send(`DELETE ${url("b", `${CRDS}/gadgets.example.dev`)}`);
    await bound("a");
    await bound("b");
  });

  it("follow changes of the export: to another schema, without it, and back", async () => {
    await provide();
    await bind("a");
    await post("a", WIDGETS, widget("one"));
    await using watch = await server.watch(url("a", `${WIDGETS}?watch=true`));
    expect((await watch.next()).object.metadata.name).to.equal("one");
    await post("provider", SCHEMAS, schemaOf("v2", {}, "weight"));
    const path = url("provider", `${APIS}/apiexports/widgets`);
    const resources = [{ group: "example.dev", name: "widgets", schema: "v2.widgets.example.dev" }];
    const changed = await server.send(`PATCH ${path}`, { spec: { resources } }, MERGE);
    expect(changed.status, changed.text).to.equal(200);
    await until(() => shard.binding("a", "w").status?.boundResources?.[0]?.schema.name === "v2.widgets.example.dev");
    const end = await watch.next();
    expect([end.type, (end.object as { code?: number }).code]).to.deep.equal(["ERROR", 410]);
    await post("a", WIDGETS, widget("two", { spec: { weight: 3 } }));
    expect(await names("a")).to.deep.equal(["one", "two"]);
    await server.send(`DELETE ${path}`);
    await until(() => said(shard.binding("a", "w") as never, "APIExportValid").startsWith("False"));
    expect(said(shard.binding("a", "w") as never, "APIExportValid")).to.equal(
      "False APIExportNotFound APIExport root:provider|widgets not found",
    );
    expect(said(shard.binding("a", "w") as never, "Ready")).to.equal("True");
    expect(await names("a")).to.deep.equal(["one", "two"]);
    await post("provider", `${APIS}/apiexports`, exportOf("widgets", ["v2.widgets.example.dev"]));
    await until(() => said(shard.binding("a", "w") as never, "APIExportValid") === "True");
    expect(await names("a")).to.deep.equal(["one", "two"]);
  });

  it("validate object names as their schema says, and report unknown fields", async () => {
    const roles = { plural: "roles", kind: "Role", nameValidation: "PathSegmentName" };
    await post("provider", SCHEMAS, schemaOf("v1", roles));
    await post("provider", SCHEMAS, schemaOf("v1"));
    await post(
      "provider",
      `${APIS}/apiexports`,
      exportOf("widgets", ["v1.roles.example.dev", "v1.widgets.example.dev"]),
    );
    await bind("a");
    const role = { apiVersion: "example.dev/v1", kind: "Role", metadata: { name: "system:a B" } };
    await post("a", "/apis/example.dev/v1/roles", role);
    expect(await names("a", "/apis/example.dev/v1/roles")).to.deep.equal(["system:a B"]);
    const path = url("a", "/apis/example.dev/v1/roles");
    const slash = await server.send(`POST ${path}`, { ...role, metadata: { name: "a%b" } });
    expect(outcome(slash)).to.deep.equal([
      422,
      "Invalid",
      'Role.example.dev "a%b" is invalid: metadata.name: Invalid value: "a%b": may not contain \'%\'',
    ]);
    const dns = await server.send(`POST ${url("a", WIDGETS)}`, widget("system:a"));
    expect(dns.status).to.equal(422);
    const text = JSON.stringify(widget("w")).replace('"size":1', '"size":1,"size":2,"sise":3');
    const found = ['duplicate field "spec.size"', 'unknown field "spec.sise"'];
    const strict = await server.send(`POST ${url("a", WIDGETS)}?fieldValidation=Strict`, text);
    expect([strict.status, strict.body.message]).to.deep.equal([
      400,
      `Widget in version "v1" cannot be handled as a Widget: strict decoding error: ${found.join(", ")}`,
    ]);
    const warned = await server.send(`POST ${url("a", WIDGETS)}?fieldValidation=Warn&dryRun=All`, text);
    expect([warned.status, warned.headers["warning"]]).to.deep.equal([
      201,
      found.map((one) => `299 - "${one.replaceAll('"', '\\"')}"`).join(", "),
    ]);
    const ignored = await server.send(`POST ${url("a", WIDGETS)}?fieldValidation=Ignore`, text);
    expect([ignored.status, ignored.headers["warning"], ignored.body.spec]).to.deep.equal([
      201,
      undefined,
      { size: 2 },
    ]);
  });
});
