// Why: claim labels let a provider find objects, and only the server sets them.
import { claimLabel, identityHash, reflexiveLabel } from "@virtual-workspaces/kcp/names";
import { memoryStore, type Outcome, type Transaction } from "@virtual-workspaces/store";
import { expect } from "chai";
import { MERGE } from "../../_support/patches.ts";
import type { PlainServer } from "../../_support/plain.ts";
import { until } from "../../_support/until.ts";
import { APIS, bindingOf, exportOf, pathOf, said, schemaOf, TestShard, url, widget } from "./support/shard.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";
const CLAIM = { group: "", resource: "configmaps", identityHash: "", verbs: ["*"] };
const accepted = (selector: object, state = "Accepted"): object => ({ ...CLAIM, selector, state });
const ALL = { matchAll: true };
const { key: LABEL, value: HASH } = claimLabel({ cluster: "provider", name: "maps" }, CLAIM);

describe("permission claims", function () {
  this.timeout(30_000);
  let shard: TestShard;
  let server: PlainServer;

  beforeEach(async () => {
    shard = await new TestShard().start();
    server = await shard.serve();
    await shard.clusters("provider", "a", "b");
    await post("provider", `${APIS}/apiexports`, exportOf("maps", [], { permissionClaims: [CLAIM] }));
  });

  afterEach(async () => {
    await server[Symbol.asyncDispose]();
    await shard[Symbol.asyncDispose]();
  });

  const post = async (cluster: string, path: string, body: object): Promise<void> => {
    const { status, text } = await server.send(`POST ${url(cluster, path)}`, body);
    expect(status, text).to.equal(201);
  };
  const map = (name: string, labels?: object): object => ({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name, ...(labels && { labels }) },
  });
  const bind = async (cluster: string, claims: readonly object[]): Promise<void> => {
    await post(cluster, `${APIS}/apibindings`, bindingOf("m", `${pathOf("provider")}:maps`, claims));
    await until(() => said(shard.binding(cluster, "m") as never, "PermissionClaimsApplied") === "True");
  };
  const claim = async (cluster: string, claims: readonly object[]): Promise<void> => {
    const path = url(cluster, `${APIS}/apibindings/m`);
    const { status, text } = await server.send(`PATCH ${path}`, { spec: { permissionClaims: claims } }, MERGE);
    expect(status, text).to.equal(200);
  };
  const labels = async (cluster: string, name: string): Promise<Record<string, string> | undefined> =>
    (await server.get(url(cluster, `${MAPS}/${name}`))).body.metadata?.labels;
  const labelled = (cluster: string, name: string, value: string | undefined): Promise<true> =>
    until(async () => (await labels(cluster, name))?.[LABEL] === value);

  it("label existing and new objects, as long as they are accepted and selected", async () => {
    await post("a", MAPS, map("before"));
    await post("b", MAPS, map("unbound"));
    await bind("a", [accepted(ALL)]);
    await labelled("a", "before", HASH);
    await post("a", MAPS, map("after"));
    expect(await labels("a", "after")).to.deep.equal({ [LABEL]: HASH });
    expect(await labels("b", "unbound")).to.equal(undefined);
    await claim("a", [accepted({ matchLabels: { of: "maps" } })]);
    await labelled("a", "before", undefined);
    expect(await labels("a", "after")).to.equal(undefined);
    await server.send(`PATCH ${url("a", `${MAPS}/after`)}`, { metadata: { labels: { of: "maps" } } }, MERGE);
    expect(await labels("a", "after")).to.deep.equal({ of: "maps", [LABEL]: HASH });
    await claim("a", [accepted({ matchLabels: { of: "maps" } }, "Rejected")]);
    await labelled("a", "after", undefined);
    expect(said(shard.binding("a", "m") as never, "PermissionClaimsValid")).to.equal("True");
    expect(shard.binding("a", "m").status?.appliedPermissionClaims).to.equal(undefined);
  });

  it("have no effect when rejected", async () => {
    await post("a", MAPS, map("one"));
    await bind("a", [accepted(ALL, "Rejected")]);
    await post("a", MAPS, map("two"));
    expect([await labels("a", "one"), await labels("a", "two")]).to.deep.equal([undefined, undefined]);
    const another = { ...CLAIM, identityHash: "f00", selector: ALL, state: "Rejected" };
    await bind("b", [accepted(ALL), another]);
    await post("b", MAPS, map("one"));
    expect(await labels("b", "one")).to.deep.equal({ [LABEL]: HASH });
  });

  it("are labeled by the server only: wrong labels of clients are corrected, those of other exports removed", async () => {
    await bind("a", [accepted(ALL)]);
    const { key: other } = claimLabel({ cluster: "evil", name: "e" }, CLAIM);
    await post("a", MAPS, map("forged", { [LABEL]: "wrong", [other]: HASH, own: "x" }));
    expect(await labels("a", "forged")).to.deep.equal({ own: "x", [LABEL]: HASH });
    const path = url("a", `${MAPS}/forged`);
    await server.send(`PATCH ${path}`, { metadata: { labels: { [LABEL]: null, [other]: HASH } } }, MERGE);
    expect(await labels("a", "forged")).to.deep.equal({ own: "x", [LABEL]: HASH });
    await post("b", MAPS, map("forged", { [LABEL]: HASH }));
    expect(await labels("b", "forged")).to.equal(undefined);
    const forged = bindingOf("f", `${pathOf("provider")}:maps`) as { metadata: object };
    const label = { "internal.apis.kcp.io/export": "forged", [other]: HASH };
    await post("b", `${APIS}/apibindings`, { ...forged, metadata: { name: "f", labels: label } });
    const { key, value } = reflexiveLabel({ cluster: "provider", name: "maps" });
    await until(() => shard.binding("b", "f").metadata.labels?.[key] === value);
    expect(shard.binding("b", "f").metadata.labels).to.have.all.keys("internal.apis.kcp.io/export", key);
    expect(shard.binding("b", "f").metadata.labels?.["internal.apis.kcp.io/export"]).to.not.equal("forged");
  });

  it("not in the export, or on unknown resources, are reported in the conditions", async () => {
    const more = { group: "wild.west", resource: "sheriffs", identityHash: "f00", verbs: ["get"] };
    await post(
      "a",
      `${APIS}/apibindings`,
      bindingOf("m", `${pathOf("provider")}:maps`, [accepted(ALL), { ...more, selector: ALL, state: "Accepted" }]),
    );
    await until(() => said(shard.binding("a", "m") as never, "PermissionClaimsValid").startsWith("False"));
    expect(said(shard.binding("a", "m") as never, "PermissionClaimsValid")).to.equal(
      'False InvalidPermissionClaims 1 unexpected and/or invalid permission claims (showing first 1): unexpected/invalid claim for sheriffs.wild.west (identity "f00")',
    );
    const path = url("provider", `${APIS}/apiexports/maps`);
    const claims = [{ ...CLAIM, verbs: ["get"] }, more];
    await server.send(`PATCH ${path}`, { spec: { permissionClaims: claims } }, MERGE);
    await until(() => said(shard.binding("a", "m") as never, "PermissionClaimsApplied").startsWith("False"));
    expect(said(shard.binding("a", "m") as never, "PermissionClaimsApplied")).to.equal(
      'False InternalError Permission claims have not been fully applied: error getting informer for group="wild.west", resource="sheriffs": unable to find informer for wild.west.sheriffs',
    );
    await claim("a", [{ ...CLAIM, verbs: ["list"], selector: ALL, state: "Accepted" }]);
    await until(() => said(shard.binding("a", "m") as never, "PermissionClaimsValid").includes("mismatched"));
    expect(said(shard.binding("a", "m") as never, "PermissionClaimsValid")).to.equal(
      "False PermissionClaimsMismatch 1 permission claim(s) have mismatched verbs or selectors (showing first 1): configmaps. (verbs: accepted [list], exported [get])",
    );
  });

  it("are applied on resources of an export without bindings, also when that export comes later", async () => {
    const key = Buffer.from("the identity of widgets");
    const widgets = { group: "example.dev", resource: "widgets", identityHash: identityHash(key), verbs: ["get"] };
    await post("provider", `${APIS}/apiexports`, exportOf("w", [], { permissionClaims: [widgets] }));
    const claim = { ...widgets, selector: ALL, state: "Accepted" };
    await post("a", `${APIS}/apibindings`, bindingOf("w", `${pathOf("provider")}:w`, [claim]));
    const applied = (cluster: string): string => said(shard.binding(cluster, "w") as never, "PermissionClaimsApplied");
    await until(() => applied("a").endsWith("unable to find informer for example.dev.widgets"));
    await post("b", "/apis/apis.kcp.io/v1alpha1/apiresourceschemas", schemaOf("v1"));
    const secret = {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "id" },
      data: { key: key.toString("base64") },
    };
    await post("b", "/api/v1/namespaces/default/secrets", secret);
    const identity = { secretRef: { namespace: "default", name: "id" } };
    await post("b", `${APIS}/apiexports`, exportOf("widgets", ["v1.widgets.example.dev"], { identity }));
    await until(() => applied("a") === "True");
    expect(shard.binding("a", "w").status?.appliedPermissionClaims).to.have.length(1);
    await post("a", `${APIS}/apibindings`, bindingOf("widgets", `${pathOf("b")}:widgets`));
    await until(() => shard.binding("a", "widgets").status?.phase === "Bound");
    await post("a", "/apis/example.dev/v1/widgets", widget("one"));
    const { key: label, value } = claimLabel({ cluster: "provider", name: "w" }, widgets);
    const read = await server.get(url("a", "/apis/example.dev/v1/widgets/one"));
    expect(read.body.metadata.labels).to.deep.equal({ [label]: value });
  });

  it("end with their binding, also on objects that are not written again", async () => {
    await bind("a", [accepted(ALL)]);
    await post("a", MAPS, map("one"));
    await labelled("a", "one", HASH);
    await server.send(`DELETE ${url("a", `${APIS}/apibindings/m`)}`);
    await until(() => shard.binding("a", "m") === undefined);
    expect(await labels("a", "one")).to.equal(undefined);
  });

  it("copy the export's extra annotations to the binding", async () => {
    await bind("a", []);
    const path = url("provider", `${APIS}/apiexports/maps`);
    const annotations = { "extra.apis.kcp.io/team": "maps", other: "x" };
    await server.send(`PATCH ${path}`, { metadata: { annotations } }, MERGE);
    await until(() => shard.binding("a", "m").metadata.annotations?.["extra.apis.kcp.io/team"] === "maps");
    expect(shard.binding("a", "m").metadata.annotations).to.not.have.property("other");
    await server.send(`PATCH ${path}`, { metadata: { annotations: { "extra.apis.kcp.io/team": null } } }, MERGE);
    await until(() => shard.binding("a", "m").metadata.annotations?.["extra.apis.kcp.io/team"] === undefined);
  });
});

describe("a claim that is accepted during a write of an object", function () {
  this.timeout(30_000);

  it("labels that object", async () => {
    await using kept = memoryStore();
    const [reached, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const commit = async (transaction: Transaction): Promise<Outcome> => {
      if (JSON.stringify(transaction).includes("/configmaps/a/default/late")) {
        reached.resolve();
        await released.promise;
      }
      return kept.commit(transaction);
    };
    const store = new Proxy(kept, {
      get: (target, name) => {
        if (name === "commit") return commit;
        const value: unknown = Reflect.get(target, name);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
    await using shard = await new TestShard({ store }).start();
    await using server = await shard.serve();
    await shard.clusters("provider", "a", "b");
    const post = (cluster: string, path: string, body: object) => server.send(`POST ${url(cluster, path)}`, body);
    const map = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "late" } };
    await post("provider", `${APIS}/apiexports`, exportOf("maps", [], { permissionClaims: [CLAIM] }));
    const late = post("a", MAPS, map);
    await reached.promise;
    const bound = bindingOf("m", `${pathOf("provider")}:maps`, [accepted(ALL)]);
    for (const cluster of ["a", "b"]) expect((await post(cluster, `${APIS}/apibindings`, bound)).status).to.equal(201);
    const applied = (cluster: string): boolean =>
      said(shard.binding(cluster, "m") as never, "PermissionClaimsApplied") === "True";
    await until(() => applied("b"));
    expect(applied("a"), "nobody is told so while there is one without").to.equal(false);
    released.resolve();
    expect((await late).status).to.equal(201);
    await until(() => applied("a"));
    expect((await server.get(url("a", `${MAPS}/late`))).body.metadata.labels).to.deep.equal({ [LABEL]: HASH });
  });
});
