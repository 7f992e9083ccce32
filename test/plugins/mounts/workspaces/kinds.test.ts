// Kinds of mount objects: several kinds, late kinds, deleted kinds and bound kinds.
import { expect } from "chai";
import { APIS, bindingOf, exportOf, schemaOf } from "../../../workspace-server/bindings/support/shard.ts";
import { untilAt } from "../../../workspace-server/shards/support.ts";
import { makeWorkspace } from "../../../workspace-server/support/logical-clusters.ts";
import { type Body, Mounted, mountKind, type Named, root } from "./support/mounted.ts";

const url = "https://far.example/clusters/root:far";
const READY = { phase: "Ready", URL: url };
const unknown = (kind: string, name: string, version = "v1") => [
  "False",
  "MountObjectNotFound",
  "Error",
  `${kind} "${name}" not found: kind ${kind} of example.dev/${version} is not served here: install its CustomResourceDefinition, or bind an APIExport with it`,
];
const NOT_FOUND = (kind: string, name: string) => [
  "False",
  "MountObjectNotFound",
  "Error",
  `${kind} "${name}" not found`,
];

describe("kinds of mount objects", function () {
  this.timeout(60_000);
  let held: Mounted;

  before(async () => {
    held = await Mounted.start();
  });

  after(async () => held?.[Symbol.asyncDispose]());

  it("may be created after the Workspace, deleted and created again", async () => {
    const ref = { kind: "LateCluster", name: "late" };
    await held.mount("late", ref);
    const { condition } = await held.until("late", ({ phase }) => phase === "Unavailable");
    expect(condition).to.deep.equal(unknown("LateCluster", "late"));
    await held.define(mountKind("LateCluster"));
    await held.object(ref, READY);
    await held.until("late", ({ phase }) => phase === "Ready");
    await held.undefine("LateCluster");
    const gone = await held.until("late", ({ condition }) => condition?.[3] === unknown("LateCluster", "late")[3]);
    expect(gone).to.deep.include({ url, condition: unknown("LateCluster", "late") });
    await held.until("late", ({ phase }) => phase === "Unavailable");
    await held.define(mountKind("LateCluster", "Namespaced"));
    const { condition: housed } = await held.until("late", ({ condition }) =>
      String(condition?.[3]).includes("is namespaced"),
    );
    expect(housed?.[1]).to.equal("MountObjectNotFound");
    await held.undefine("LateCluster");
    await held.until("late", ({ condition }) => condition?.[3] === unknown("LateCluster", "late")[3]);
    await held.define(mountKind("LateCluster"));
    await held.object(ref, READY);
    await held.until("late", ({ phase }) => phase === "Ready");
  });

  it("may share a group, with independent objects of the same name", async () => {
    for (const kind of ["Harbour", "Airport"]) {
      await held.define(mountKind(kind));
      await held.object({ kind, name: "same" }, { phase: "Connecting", URL: `https://${kind.toLowerCase()}.example` });
      await held.mount(kind.toLowerCase(), { kind, name: "same" });
      await held.until(kind.toLowerCase(), ({ phase }) => phase === "Unavailable");
    }
    await held.says({ kind: "Harbour", name: "same" }, { phase: "Ready" });
    expect((await held.until("harbour", ({ phase }) => phase === "Ready")).url).to.equal("https://harbour.example");
    await held.says({ kind: "Airport", name: "same" }, { phase: "Ready" });
    expect((await held.until("airport", ({ phase }) => phase === "Ready")).url).to.equal("https://airport.example");
    await held.remove({ kind: "Harbour", name: "same" });
    const { condition } = await held.until("harbour", ({ phase }) => phase !== "Ready");
    expect(condition).to.deep.equal(NOT_FOUND("Harbour", "same"));
    expect((await held.until("airport", () => true)).phase).to.equal("Ready");
  });

  it("are found in the version of the reference, if it is served", async () => {
    const kind = mountKind("Versioned") as Body;
    const [version] = kind.spec.versions;
    kind.spec.versions.push(
      { ...version, name: "v2", storage: false },
      { ...version, name: "v3", served: false, storage: false },
    );
    await held.define(kind);
    await held.object({ kind: "Versioned", name: "a" }, READY);
    for (const name of ["v1", "v2", "v3"])
      await held.mount(name, { apiVersion: `example.dev/${name}`, kind: "Versioned", name: "a" });
    for (const name of ["v1", "v2"])
      expect((await held.until(name, ({ phase }) => phase === "Ready")).url).to.equal(url);
    const { condition } = await held.until("v3", ({ phase }) => phase === "Unavailable");
    expect(condition).to.deep.equal(unknown("Versioned", "a", "v3"));
    const path = "/clusters/root/apis/apiextensions.k8s.io/v1/customresourcedefinitions/versioneds.example.dev";
    const steps = [{ op: "replace", path: "/spec/versions/2/served", value: true }];
    const headers = { "content-type": "application/json-patch+json" };
    expect((await held.server.send(`PATCH ${path}`, steps, { ...root, headers })).status).to.equal(200);
    await held.until("v3", ({ phase }) => phase === "Ready");
  });

  it("belong to the Workspace's own logical cluster, may be bound there, and are released", async () => {
    const [provider, consumer] = [
      await makeWorkspace(held.server, "provider"),
      await makeWorkspace(held.server, "consumer"),
    ];
    const schema = {
      type: "object",
      properties: { status: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
    };
    const versions = [{ name: "v1", served: true, storage: true, schema, subresources: { status: {} } }];
    const post = (cluster: string, path: string, object: object) => held.post(`/clusters/${cluster}${path}`, object);
    await post(
      provider,
      "/apis/apis.kcp.io/v1alpha1/apiresourceschemas",
      schemaOf("v1", { plural: "docks", kind: "Dock", versions }),
    );
    await post(provider, `${APIS}/apiexports`, exportOf("docks", ["v1.docks.example.dev"]));
    const ref: Named = { kind: "Dock", name: "a", cluster: consumer };
    await held.mount("dock", { kind: "Dock", name: "a" }, { cluster: consumer });
    const missing = await held.until("dock", ({ phase }) => phase === "Unavailable", consumer);
    expect(missing.condition).to.deep.equal(unknown("Dock", "a"));
    await post(consumer, `${APIS}/apibindings`, bindingOf("docks", `${provider}:docks`));
    const binding = `/clusters/${consumer}${APIS}/apibindings/docks` as const;
    await untilAt(held.server, binding, ({ body }) => body.status?.phase === "Bound");
    await held.until("dock", ({ condition }) => condition?.[3] === NOT_FOUND("Dock", "a")[3], consumer);
    await held.object(ref, READY);
    await held.until("dock", ({ phase }) => phase === "Ready", consumer);
    expect((await held.server.send(`DELETE ${binding}`, undefined, root)).status).to.equal(200);
    await held.until("dock", ({ condition }) => condition?.[3] === unknown("Dock", "a")[3], consumer);
  });
});
