// Mounted workspaces report kcp's conditions, by the status of their mount objects.
import { expect } from "chai";
import { makeNamespace } from "../../../workspace-server/support/logical-clusters.ts";
import { MARK, MERGE, Mounted, mountKind, root, WORKSPACES } from "./support/mounted.ts";

const URL = "https://far.example/clusters/root:far";
const TRUE = ["True", undefined, undefined, undefined];
const notFound = (message: string) => ["False", "MountObjectNotFound", "Error", message];
const notReady = (message: string) => ["False", "MountObjectNotReady", "Error", message];
const waits = (kind: string, name: string) =>
  notReady(`Mount is not reporting ready. See ${kind} "${name}" status for more details`);
const cluster = (name: string) => ({ kind: "KubeCluster", name });

describe("a mounted workspace", function () {
  this.timeout(60_000);
  let held: Mounted;

  before(async () => {
    held = await Mounted.start();
    await held.define(mountKind("KubeCluster"));
    await held.define(mountKind("SiteProxy", "Namespaced"));
    await makeNamespace(held.server, "root", "sites");
  });

  after(async () => held?.[Symbol.asyncDispose]());

  it("waits for its object, then for that to be ready, with kcp's messages", async () => {
    const ref = cluster("one");
    await held.mount("one", ref);
    const url = undefined;
    const missing = { phase: "Unavailable", url, condition: notFound('KubeCluster "one" not found') };
    expect(await held.until("one", ({ phase }) => phase === "Unavailable")).to.deep.equal(missing);
    await held.object(ref);
    const there = { phase: "Unavailable", url, condition: waits("KubeCluster", "one") };
    expect(await held.until("one", ({ condition }) => condition?.[1] === "MountObjectNotReady")).to.deep.equal(there);
    await held.says(ref, { phase: "Connecting", URL });
    expect(await held.until("one", ({ url }) => url !== undefined)).to.deep.equal({ ...there, url: URL });
    await held.says(ref, { phase: "Ready" });
    const ready = { phase: "Ready", url: URL, condition: TRUE };
    expect(await held.until("one", ({ phase }) => phase === "Ready")).to.deep.equal(ready);

    const { body } = await held.workspace("one");
    expect(body.spec).to.not.have.property("cluster");
    expect(body.metadata).to.not.have.property("finalizers");
    expect(body.metadata.labels ?? {}).to.not.have.property("tenancy.kcp.io/phase");
    expect(body.status.conditions).to.have.length(1);

    await held.says(ref, { phase: "Unknown" });
    const lost = { phase: "Unavailable", url: URL, condition: waits("KubeCluster", "one") };
    expect(await held.until("one", ({ phase }) => phase !== "Ready")).to.deep.equal(lost);
    await held.says(ref, { phase: "Ready", URL: `${URL}:other` });
    expect(await held.until("one", ({ phase }) => phase === "Ready")).to.deep.equal({ ...ready, url: `${URL}:other` });
    await held.remove(ref);
    const gone = { phase: "Unavailable", url: `${URL}:other`, condition: missing.condition };
    expect(await held.until("one", ({ phase }) => phase !== "Ready")).to.deep.equal(gone);
    await held.object(ref, { phase: "Ready", URL });
    expect(await held.until("one", ({ phase }) => phase === "Ready")).to.deep.equal(ready);
  });

  it("can have mount objects in namespaces, each with its own", async () => {
    const ref = { kind: "SiteProxy", namespace: "sites", name: "near" };
    await held.mount("near", ref);
    expect(await held.until("near", ({ phase }) => phase === "Unavailable")).to.deep.equal({
      phase: "Unavailable",
      url: undefined,
      condition: notFound('SiteProxy "sites/near" not found'),
    });
    await held.object(ref, { phase: "Ready", URL });
    expect(await held.until("near", ({ phase }) => phase === "Ready")).to.deep.include({ url: URL, condition: TRUE });
  });

  it("reports a missing or superfluous namespace", async () => {
    const remedy = "spec.mount cannot be changed: create the workspace again";
    for (const [name, ref, message] of [
      [
        "homeless",
        { kind: "SiteProxy", name: "far" },
        `SiteProxy "far" not found: SiteProxy is namespaced, but spec.mount.ref.namespace is missing; ${remedy}`,
      ],
      [
        "housed",
        { kind: "KubeCluster", namespace: "sites", name: "far" },
        `KubeCluster "sites/far" not found: KubeCluster is cluster-scoped, but spec.mount.ref.namespace is set; ${remedy}`,
      ],
    ] as const) {
      await held.mount(name, ref);
      const { condition } = await held.until(name, ({ phase }) => phase === "Unavailable");
      expect(condition).to.deep.equal(notFound(message));
    }
  });

  it("reports invalid names, and sends no request with them", async () => {
    for (const [name, ref] of [
      ["slash", { kind: "KubeCluster", name: "../customresourcedefinitions" }],
      ["group", { apiVersion: "?a/v1", kind: "KubeCluster", name: "a" }],
      ["version", { apiVersion: "example.dev/..", kind: "KubeCluster", name: "a" }],
      ["core", { apiVersion: "?a", kind: "KubeCluster", name: "a" }],
    ] as const) {
      await held.mount(name, ref);
      const { condition } = await held.until(name, ({ phase }) => phase === "Unavailable");
      expect(condition?.slice(0, 3), name).to.deep.equal(notFound("").slice(0, 3));
      expect(condition?.[3], name).to.match(
        new RegExp(`^${ref.kind} ".*" not found: .*; spec.mount cannot be changed: create the workspace again$`),
      );
    }
  });

  it("is not ready without a usable URL, and does not repeat an invalid one", async () => {
    const ref = cluster("urls");
    await held.object(ref, { phase: "Ready" });
    await held.mount("urls", ref);
    const wrong = (why: string) =>
      notReady(`KubeCluster "urls" is Ready, but ${why}: set it to the URL of its API, such as https://host/path`);
    const none = "status.URL is not an absolute http or https URL";
    for (const [url, why] of [
      [undefined, "status.URL is missing"],
      ["", "status.URL is missing"],
      ["/clusters/root", none],
      ["ftp://far.example", none],
      ["https://far.example\n/x", none],
      ["https:\\\\far.example", none],
      ["http://[far", none],
      ["https://user:hush-secret@far.example/x", "status.URL contains a user or a password"],
      ["https://hush-secret@far.example/x", "status.URL contains a user or a password"],
    ] as const) {
      await held.says(ref, { phase: "Ready", ...(url !== undefined && { URL: url }) });
      const said = await held.until("urls", ({ condition }) => condition?.[3] === wrong(why)[3]);
      expect(said, url).to.deep.equal({ phase: "Unavailable", url: undefined, condition: wrong(why) });
    }
    expect((await held.workspace("urls")).text).to.not.include("hush-secret");
    await held.says(ref, { URL });
    expect(await held.until("urls", ({ phase }) => phase === "Ready")).to.deep.include({ url: URL, condition: TRUE });
    await held.says(ref, { URL: "no" });
    expect(await held.until("urls", ({ phase }) => phase !== "Ready")).to.deep.include({
      url: URL,
      condition: wrong(none),
    });
  });

  it("accepts an object without the mount annotation, and reports that", async () => {
    const ref = cluster("unmarked");
    await held.object(ref, { phase: "Ready", URL }, {});
    await held.mount("unmarked", ref);
    const message =
      'KubeCluster "unmarked" is mounted without the annotation experimental.tenancy.kcp.io/is-mount: "true"';
    const condition = ["True", undefined, undefined, message];
    expect(await held.until("unmarked", ({ phase }) => phase === "Ready")).to.deep.include({ url: URL, condition });
    const call = "PATCH /clusters/root/apis/example.dev/v1/kubeclusters/unmarked";
    await held.server.send(call, { metadata: { annotations: MARK } }, { ...root, ...MERGE });
    await held.until("unmarked", ({ condition }) => condition?.[3] === undefined);
  });

  it("is restored after changes by other clients, and can be deleted at once", async () => {
    const ref = cluster("kept");
    await held.object(ref, { phase: "Ready", URL });
    await held.mount("kept", ref);
    await held.until("kept", ({ phase }) => phase === "Ready");
    const path = `clusters/root${WORKSPACES}/kept`;
    const moved = { spec: { URL: "https://evil.example" } };
    expect((await held.server.send(`PATCH /${path}`, moved, { ...root, ...MERGE })).status).to.equal(200);
    await held.until("kept", ({ url }) => url === URL);
    const unsaid = { status: { conditions: [] } };
    expect((await held.server.send(`PATCH /${path}/status`, unsaid, { ...root, ...MERGE })).status).to.equal(200);
    await held.until("kept", ({ condition }) => condition?.[0] === "True");
    expect((await held.server.send(`DELETE /${path}`, undefined, root)).status).to.equal(200);
    expect((await held.workspace("kept")).status).to.equal(404);
  });
});

describe("a mounted workspace that requires the mount annotation", () => {
  it("ignores an object without it", async () => {
    await using held = await Mounted.start({ requireAnnotation: true });
    await held.define(mountKind("KubeCluster"));
    await held.object(cluster("a"), { phase: "Ready", URL }, { "experimental.tenancy.kcp.io/is-mount": "yes" });
    await held.mount("a", cluster("a"));
    const message = 'KubeCluster "a" is not a mount: add the annotation experimental.tenancy.kcp.io/is-mount: "true"';
    const said = { phase: "Unavailable", url: undefined, condition: notReady(message) };
    expect(await held.until("a", ({ phase }) => phase === "Unavailable")).to.deep.equal(said);
    const call = "PATCH /clusters/root/apis/example.dev/v1/kubeclusters/a";
    await held.server.send(call, { metadata: { annotations: MARK } }, { ...root, ...MERGE });
    expect(await held.until("a", ({ phase }) => phase === "Ready")).to.deep.include({ url: URL, condition: TRUE });
  });
});
