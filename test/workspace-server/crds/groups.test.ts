// Why: workspaces lack most kinds of Kubernetes, so kcp's users define them: in Kubernetes' own groups, and in the core group.
import { memoryStore } from "@virtual-workspaces/store";
import { expect } from "chai";
import { type Body, ClusterClient } from "../support/objects.ts";
import { startWorkspaces } from "../support/workspaces.ts";
import { definition } from "./definitions.ts";

const CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/** Definition of a kind of Kubernetes. */
function kubernetesKind(group: string, kind: string): object {
  const plural = `${kind.toLowerCase()}s`;
  const name = `${plural}.${group === "" ? "core" : group}`;
  return definition({
    spec: { group },
    metadata: { name },
    names: { plural, singular: kind.toLowerCase(), kind, listKind: `${kind}List` },
  });
}

async function start() {
  const store = memoryStore();
  const server = await startWorkspaces(store);
  return {
    server,
    client: new ClusterClient(server),
    [Symbol.asyncDispose]: async () => {
      await server[Symbol.asyncDispose]();
      await store[Symbol.asyncDispose]();
    },
  };
}

describe("definitions of kinds of Kubernetes", () => {
  for (const { group, kind, path } of [
    { group: "apps", kind: "Deployment", path: "/apis/apps/v1" },
    { group: "batch", kind: "Job", path: "/apis/batch/v1" },
    { group: "", kind: "Pod", path: "/api/v1" },
  ])
    it(`are served in the group ${JSON.stringify(group)}, with the patches of Kubernetes' kinds, beside the kinds of the server`, async () => {
      await using system = await start();
      const { client } = system;
      const plural = `${kind.toLowerCase()}s`;
      const objects = `${path}/namespaces/default/${plural}`;
      await client.create(CRDS, kubernetesKind(group, kind));
      await client.until(objects, ({ status }) => status === 200);
      const apiVersion = group === "" ? "v1" : `${group}/v1`;
      const made = await client.create(objects, { apiVersion, kind, metadata: { name: "one" }, spec: { size: 1 } });
      expect(made).to.deep.include({ apiVersion, kind });
      const { body } = await client.patch(`${objects}/one`, { metadata: { labels: { a: "b" } } });
      expect(body.metadata.labels).to.deep.equal({ a: "b" });
      // Typed clients of these groups send strategic merge patches.
      const strategic = { metadata: { creationTimestamp: "2001-01-01T00:00:00Z", labels: { c: "d" } } };
      const headers = { "content-type": "application/strategic-merge-patch+json" };
      const url = `/clusters/root${objects}/one` as const;
      const patched = await system.server.send(`PATCH ${url}`, strategic, { user: "root", headers });
      expect(patched.status).to.equal(200);
      expect(patched.body.metadata.labels).to.deep.equal({ a: "b", c: "d" });
      expect(patched.body.metadata.creationTimestamp).to.equal(made.metadata.creationTimestamp);
      const { resources } = (await client.get(path)).body;
      expect(resources.map(({ name }: Body) => name)).to.include(plural);
      await client.configMap("other");
      await client.delete(`${CRDS}/${plural}.${group === "" ? "core" : group}`);
      await client.until(objects, ({ status }) => status === 404);
      expect((await client.get("/api/v1/namespaces/default/configmaps/other")).status).to.equal(200);
    });

  it("cannot be in other groups without a domain, nor in the core group under its own name", async () => {
    await using system = await start();
    const { client } = system;
    const other = await client.send("POST", CRDS, kubernetesKind("mine", "Pod"));
    expect([other.status, other.body.message]).to.deep.equal([
      422,
      'CustomResourceDefinition.apiextensions.k8s.io "pods.mine" is invalid: spec.group: Invalid value: "mine": should be a domain with at least one dot',
    ]);
    const core = await client.send("POST", CRDS, kubernetesKind("core", "Pod"));
    expect(core.status).to.equal(422);
  });

  it("cannot replace a kind of the server", async () => {
    await using system = await start();
    const { client } = system;
    await client.create(CRDS, kubernetesKind("", "ConfigMap"));
    const { body } = await client.until(
      `${CRDS}/configmaps.core`,
      ({ body: crd }) => crd.status?.conditions?.length > 0,
    );
    await client.configMap("kept");
    expect((await client.get("/api/v1/namespaces/default/configmaps/kept")).body).to.deep.include({
      kind: "ConfigMap",
    });
    const accepted = body.status.conditions.find(({ type }: Body) => type === "NamesAccepted");
    expect(accepted).to.deep.include({ status: "False", message: '"ConfigMapList" is already in use' });
  });

  it("cannot have annotations of kcp's APIs", async () => {
    await using system = await start();
    const { client } = system;
    const crd = kubernetesKind("apps", "Deployment") as Body;
    const reserved = { "apis.kcp.io/bound-crd": "", "internal.apis.kcp.io/x": "", "example.dev/apis.kcp.io": "" };
    const made = await client.send("POST", CRDS, { ...crd, metadata: { ...crd.metadata, annotations: reserved } });
    expect([made.status, made.body.message]).to.deep.equal([
      403,
      'customresourcedefinitions.apiextensions.k8s.io "deployments.apps" is forbidden: [apis.kcp.io/bound-crd is a reserved annotation, internal.apis.kcp.io/x is a reserved annotation]',
    ]);
    await client.create(CRDS, crd);
    const changed = await client.send("PATCH", `${CRDS}/deployments.apps`, {
      metadata: { annotations: { "apis.kcp.io/bound-crd": "" } },
    });
    expect([changed.status, changed.body.message]).to.deep.equal([
      403,
      'customresourcedefinitions.apiextensions.k8s.io "deployments.apps" is forbidden: apis.kcp.io/bound-crd is a reserved annotation',
    ]);
  });
});
