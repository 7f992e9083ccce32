// Why: workspaces that predate the exports of kcp's own kinds keep these APIs.
import { memoryStore, type Store } from "@virtual-workspaces/store";
import { expect } from "chai";
import { makeWorkspace } from "../support/logical-clusters.ts";
import { startWorkspaces, type Workspaces } from "../support/workspaces.ts";
import { APIS, become, make, names, root, TENANCY, TOPOLOGY, workspaceOf } from "./support.ts";

const LOGICAL_CLUSTER = "/apis/core.kcp.io/v1alpha1/logicalclusters/cluster";
const BEFORE = "2020-01-01T00:00:00Z";

const custom = (name: string, spec: object): object => ({
  apiVersion: "tenancy.kcp.io/v1alpha1",
  kind: "WorkspaceType",
  metadata: { name },
  spec,
});

/** Creates a workspace of a type in `root`. @returns its logical cluster */
async function made(server: Workspaces, name: string, type: string): Promise<string> {
  const workspaces = `/clusters/root${TENANCY}/workspaces`;
  await make(server, workspaces, workspaceOf(name, { type: { name: type, path: "root" } }));
  const { spec } = await become<{ spec: { cluster: string }; status?: { phase: string } } & { metadata: object }>(
    server,
    workspaces,
    { name, is: ({ status }) => status?.phase === "Ready" },
  );
  return spec.cluster;
}

/** Makes a logical cluster look older than the exports. */
async function age(store: Store, cluster: string): Promise<void> {
  const bindings = `apis.kcp.io/apibindings/${cluster}/`;
  const { entries } = await store.range({ from: bindings, to: `${bindings}~` });
  const place = `core.kcp.io/logicalclusters/${cluster}//cluster`;
  const { value } = (await store.get(place)) ?? expect.fail("it is kept elsewhere");
  const record = value
    .toString("latin1")
    .replace(/"creationTimestamp":"[^"]*"/, `"creationTimestamp":"${BEFORE}"`)
    .replace(',"system:apibindings"]', `]${" ".repeat(',"system:apibindings"'.length)}`);
  await store.commit({
    conditions: [],
    operations: [
      ...entries.map(({ key }) => ({ type: "delete" as const, key })),
      { type: "put", key: place, value: Buffer.from(record, "latin1") },
    ],
  });
}

describe("workspaces older than the exports of kcp's own kinds", function () {
  this.timeout(30_000);

  it("get their bindings once, whatever their type; newer ones of such types get none", async () => {
    await using store = memoryStore();
    const old: Record<string, string> = {};
    let young: string;
    {
      await using server = await startWorkspaces(store);
      await make(server, `/clusters/root${TENANCY}/workspacetypes`, custom("bare", {}));
      const defaultAPIBindings = [{ path: "root", export: "topology.kcp.io" }];
      await make(server, `/clusters/root${TENANCY}/workspacetypes`, custom("binding", { defaultAPIBindings }));
      old["universal"] = await makeWorkspace(server, "one");
      old["bare"] = await made(server, "two", "bare");
      old["binding"] = await made(server, "three", "binding");
      young = await made(server, "four", "bare");
      expect(await names(server, `/clusters/${old["bare"]}${TENANCY}/workspaces`), "as in kcp").to.equal(404);
    }
    for (const cluster of Object.values(old)) await age(store, cluster);
    {
      await using server = await startWorkspaces(store);
      for (const [type, cluster] of Object.entries(old)) {
        for (const at of [`${TENANCY}/workspaces`, `${TOPOLOGY}/partitions`])
          while ((await names(server, `/clusters/${cluster}${at}`)) === 404);
        const child = await server.send(
          `POST /clusters/${cluster}${TENANCY}/workspaces`,
          workspaceOf("child", { type: { name: "universal", path: "root" } }),
          root,
        );
        expect(child.status, child.text).to.equal(201);
        const { metadata } = (await server.get(`/clusters/${cluster}${LOGICAL_CLUSTER}`, root)).body;
        expect(metadata.creationTimestamp, type).to.equal(BEFORE);
      }
      expect(await names(server, `/clusters/${young}${TENANCY}/workspaces`)).to.equal(404);
      // Deleted bindings are not created again.
      const all = `/clusters/${old["bare"]}${APIS}/apibindings`;
      const bindings: { metadata: { name: string } }[] = (await server.get(all, root)).body.items;
      expect(bindings).to.have.length(2);
      for (const { metadata } of bindings)
        expect((await server.send(`DELETE ${all}/${metadata.name}` as "DELETE /", undefined, root)).status).to.equal(
          200,
        );
      while ((await server.get(all, root)).body.items.length > 0);
    }
    await using server = await startWorkspaces(store);
    await made(server, "five", "universal");
    expect(await names(server, `/clusters/${old["bare"]}${APIS}/apibindings`)).to.deep.equal([]);
    expect(await names(server, `/clusters/${old["binding"]}${TENANCY}/workspaces`)).to.deep.equal(["child"]);
  });
});
