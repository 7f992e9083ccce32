// Why: objects without owners are deleted, by the propagation policy of the owner's deletion.
import { memoryStore } from "@virtual-workspaces/store";
import { expect } from "chai";
import { expectFault } from "../../_setup/faults.ts";
import { counted } from "../support/counted.ts";
import { type Body, ClusterClient, ownerOf } from "../support/objects.ts";
import { startWorkspaces } from "../support/workspaces.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";
const WIDGETS = "/apis/example.dev/v1/namespaces/default/widgets";
const ROLES = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
const BLOCKS = { blockOwnerDeletion: true };

const owned = (...owners: readonly object[]): object => ({ ownerReferences: owners });
const widget = (name: string, metadata: object = {}): object => ({
  apiVersion: "example.dev/v1",
  kind: "Widget",
  metadata: { name, ...metadata },
});
const role = (name: string, metadata: object = {}): object => ({
  apiVersion: "rbac.authorization.k8s.io/v1",
  kind: "ClusterRole",
  metadata: { name, ...metadata },
  rules: [],
});

async function start() {
  const store = memoryStore();
  const counts = counted(store);
  const server = await startWorkspaces(counts.store);
  const client = new ClusterClient(server);
  return {
    server,
    client,
    counts,
    [Symbol.asyncDispose]: async () => {
      await server[Symbol.asyncDispose]();
      await store[Symbol.asyncDispose]();
    },
  };
}

const held = (answer: { readonly body: Body }): string[] => answer.body.metadata?.finalizers ?? [];

describe("the garbage collector", () => {
  it("deletes the dependents of an owner deleted in the background, recursively", async () => {
    await using system = await start();
    const { client } = system;
    const owner = await client.configMap("owner");
    const child = await client.configMap("child", owned(ownerOf(owner)));
    await client.configMap("grandchild", owned(ownerOf(child)));
    await client.configMap("unrelated");
    await client.delete(`${MAPS}/owner`, "Background");
    await client.gone(`${MAPS}/grandchild`);
    await client.gone(`${MAPS}/child`);
    expect(await client.names(MAPS)).to.include("unrelated");
  });

  it("keeps an owner deleted in the foreground until its blocking dependents are gone", async () => {
    await using system = await start();
    const { client } = system;
    const owner = await client.configMap("owner");
    await client.configMap("blocks", { ...owned(ownerOf(owner, BLOCKS)), finalizers: ["example.dev/hold"] });
    await client.configMap("free", { ...owned(ownerOf(owner)), finalizers: ["example.dev/hold"] });
    await client.delete(`${MAPS}/owner`, "Foreground");
    await client.until(`${MAPS}/blocks`, ({ body }) => body.metadata.deletionTimestamp);
    await client.until(`${MAPS}/free`, ({ body }) => body.metadata.deletionTimestamp);
    expect(held(await client.get(`${MAPS}/owner`))).to.deep.equal(["foregroundDeletion"]);
    await client.patch(`${MAPS}/blocks`, { metadata: { finalizers: null } });
    await client.gone(`${MAPS}/owner`);
    expect((await client.get(`${MAPS}/free`)).status).to.equal(200);
    await client.patch(`${MAPS}/free`, { metadata: { finalizers: null } });
    await client.gone(`${MAPS}/free`);
  });

  it("deletes a tree in the foreground from the leaves up", async () => {
    await using system = await start();
    const { client } = system;
    const root = await client.configMap("root");
    const middle = await client.configMap("middle", owned(ownerOf(root, BLOCKS)));
    await client.configMap("leaf", { ...owned(ownerOf(middle, BLOCKS)), finalizers: ["example.dev/hold"] });
    await client.delete(`${MAPS}/root`, "Foreground");
    await client.until(`${MAPS}/leaf`, ({ body }) => body.metadata.deletionTimestamp);
    expect(held(await client.get(`${MAPS}/middle`))).to.deep.equal(["foregroundDeletion"]);
    await client.patch(`${MAPS}/leaf`, { metadata: { finalizers: null } });
    for (const name of ["leaf", "middle", "root"]) await client.gone(`${MAPS}/${name}`);
  });

  it("releases orphaned dependents before it deletes their owner", async () => {
    await using system = await start();
    const { client } = system;
    const owner = await client.configMap("owner");
    const other = await client.configMap("other");
    await client.configMap("a", owned(ownerOf(owner)));
    await client.configMap("b", owned(ownerOf(owner), ownerOf(other)));
    await client.delete(`${MAPS}/owner`, "Orphan");
    await client.gone(`${MAPS}/owner`);
    expect((await client.get(`${MAPS}/a`)).body.metadata.ownerReferences).to.equal(undefined);
    const { ownerReferences } = (await client.get(`${MAPS}/b`)).body.metadata;
    expect(ownerReferences.map(({ name }: Body) => name)).to.deep.equal(["other"]);
  });

  it("completes a foreground deletion whose dependents have another owner", async () => {
    await using system = await start();
    const { client } = system;
    const owner = await client.configMap("owner");
    const other = await client.configMap("other");
    await client.configMap("shared", owned(ownerOf(owner, BLOCKS), ownerOf(other, BLOCKS)));
    await client.delete(`${MAPS}/owner`, "Foreground");
    await client.gone(`${MAPS}/owner`);
    const { ownerReferences } = (await client.get(`${MAPS}/shared`)).body.metadata;
    expect(ownerReferences.map(({ name }: Body) => name)).to.deep.equal(["other"]);
  });

  it("deletes objects with an owner in another namespace, and reports an event about each", async () => {
    await using system = await start();
    const { client } = system;
    await client.namespace("a");
    await client.namespace("b");
    const owner = await client.configMap("owner", {}, "b");
    const { metadata } = await client.configMap("stray", owned(ownerOf(owner)), "a");
    await client.gone("/api/v1/namespaces/a/configmaps/stray");
    const EVENTS = "/api/v1/namespaces/a/events?fieldSelector=reason=OwnerRefInvalidNamespace";
    const { body } = await client.until(EVENTS, ({ body }) => body.items.length > 0);
    expect(body.items).to.have.length(1);
    expect(body.items[0]).to.deep.include({
      type: "Warning",
      reason: "OwnerRefInvalidNamespace",
      source: { component: "garbage-collector-controller" },
      reportingComponent: "garbage-collector-controller",
      message: `ownerRef [v1/ConfigMap, namespace: a, name: owner, uid: ${owner.metadata.uid}] does not exist in namespace "a"`,
      involvedObject: { apiVersion: "v1", kind: "ConfigMap", namespace: "a", name: "stray", uid: metadata.uid },
      count: 1,
    });
    expect((await client.get("/api/v1/namespaces/b/configmaps/owner")).status).to.equal(200);
  });

  it("reports the event also when the reference has another kind and name than the owner in another namespace", async () => {
    await using system = await start();
    const { client } = system;
    for (const name of ["a", "b"]) await client.namespace(name);
    const owner = await client.configMap("owner", {}, "b");
    await client.configMap("child", owned(ownerOf(owner)), "b");
    const wrong = ownerOf({ ...owner, kind: "Secret", metadata: { ...owner.metadata, name: "wrong" } });
    await client.configMap("stray", owned(wrong), "a");
    await client.gone("/api/v1/namespaces/a/configmaps/stray");
    const EVENTS = "/api/v1/namespaces/a/events?fieldSelector=reason=OwnerRefInvalidNamespace";
    const { body } = await client.until(EVENTS, ({ body }) => body.items.length > 0);
    expect(body.items.map(({ message }: Body) => message)).to.deep.equal([
      `ownerRef [v1/Secret, namespace: a, name: wrong, uid: ${owner.metadata.uid}] does not exist in namespace "a"`,
    ]);
    expect((await client.get("/api/v1/namespaces/b/configmaps/child")).status).to.equal(200);
  });

  it("removes references to missing owners, and deletes objects without any existing owner", async () => {
    await using system = await start();
    const { client, counts } = system;
    const owner = await client.configMap("owner");
    const gone = { ...owner, metadata: { name: "gone", uid: "1" } };
    await client.configMap("both", owned(ownerOf(owner), ownerOf(gone)));
    await client.configMap("none", owned(ownerOf(gone)));
    await client.configMap("another", owned(ownerOf({ ...owner, metadata: { name: "owner", uid: "2" } })));
    await client.gone(`${MAPS}/none`);
    await client.gone(`${MAPS}/another`);
    const { body } = await client.until(`${MAPS}/both`, ({ body }) => body.metadata.ownerReferences?.length === 1);
    expect(body.metadata.ownerReferences[0].name).to.equal("owner");
    await counts.quiet();
  });

  it("detects that an owner was replaced by another of the same name", async () => {
    await using system = await start();
    const { client } = system;
    const owner = await client.configMap("owner");
    await client.configMap("child", { ...owned(ownerOf(owner)), finalizers: ["example.dev/hold"] });
    await client.delete(`${MAPS}/owner`, "Background");
    await client.configMap("owner");
    await client.until(`${MAPS}/child`, ({ body }) => body.metadata.deletionTimestamp);
  });

  it("finds owners that are custom resources or cluster-scoped, and waits for kinds that are defined later", async () => {
    await using system = await start();
    const { client, counts } = system;
    const base = await client.create(ROLES, role("owner"));
    const soon = { apiVersion: "example.dev/v1", kind: "Widget", metadata: { name: "soon", uid: "1" } };
    await client.configMap("waits", owned(ownerOf(soon)));
    await client.configMap("mapped", owned(ownerOf(base)));
    await counts.quiet();
    expect((await client.get(`${MAPS}/waits`)).status).to.equal(200);
    await client.widgets();
    await client.gone(`${MAPS}/waits`);
    const owner = await client.create(WIDGETS, widget("owner", owned(ownerOf(base))));
    await client.configMap("of-widget", owned(ownerOf(owner, BLOCKS)));
    await client.delete(`${ROLES}/owner`, "Foreground");
    for (const path of [`${MAPS}/mapped`, `${WIDGETS}/owner`, `${MAPS}/of-widget`]) await client.gone(path);
  });

  it("deletes dependents of objects that are deleted with their kind", async () => {
    await using system = await start();
    const { client } = system;
    await client.widgets();
    const owner = await client.create(WIDGETS, widget("owner"));
    await client.configMap("of-widget", owned(ownerOf(owner)));
    await client.delete("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.dev");
    await client.gone(`${MAPS}/of-widget`);
  });

  it("keeps cluster-scoped objects with a namespaced owner, and logs a warning", async () => {
    await using system = await start();
    const { client, counts } = system;
    const owner = await client.configMap("owner");
    await client.create(ROLES, role("child", owned(ownerOf(owner))));
    await client.delete(`${MAPS}/owner`, "Background");
    await counts.quiet();
    expect((await client.get(`${ROLES}/child`)).status).to.equal(200);
    expectFault(/cannot have a namespaced owner: remove the owner reference/);
  });
});
