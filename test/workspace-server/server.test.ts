// The workspace server over HTTP: names and paths, permissions, custom kinds and restarts.
import { memoryStore } from "@virtual-workspaces/store";
import { expect } from "chai";
import { crd } from "../_support/crd.ts";
import { outcome } from "../_support/plain.ts";
import { startWorkspaces } from "./support/workspaces.ts";

const ROOT = "/clusters/root";
const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";

describe("the workspace server", () => {
  it("serves the root workspace with its initial content to its administrator", async () => {
    await using server = await startWorkspaces();
    const user = "admin";
    const types = await server.get(`${ROOT}/apis/tenancy.kcp.io/v1alpha1/workspacetypes`, { user });
    expect(types.status, types.text).to.equal(200);
    const names = types.body.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name);
    expect(names).to.deep.equal(["home", "organization", "root", "team", "universal"]);
    const cluster = await server.get(`${ROOT}/apis/core.kcp.io/v1alpha1/logicalclusters/cluster`, { user });
    expect(cluster.body.metadata.annotations).to.include({ "kcp.io/cluster": "root" });
    const made = await server.send(
      `POST ${ROOT}${CONFIG_MAPS}`,
      { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, data: { x: "y" } },
      { user },
    );
    expect(made.status, made.text).to.equal(201);
    expect((await server.get(`${ROOT}${CONFIG_MAPS}/a`, { user })).body.data).to.deep.equal({ x: "y" });
  });

  it("lets all users list workspaces in root, and requires rights for everything else", async () => {
    await using server = await startWorkspaces();
    expect((await server.get(`${ROOT}/apis/tenancy.kcp.io/v1alpha1/workspaces`)).status).to.equal(200);
    expect(outcome(await server.get(`${ROOT}${CONFIG_MAPS}`))).to.deep.equal([
      403,
      "Forbidden",
      'configmaps is forbidden: User "alice" cannot list resource "configmaps" in API group "" in the namespace "default": access denied',
    ]);
    expect((await server.get("/clusters/*/api/v1/configmaps", { user: "admin" })).status).to.equal(403);
    expect((await server.get("/clusters/*/api/v1/configmaps", { user: "root" })).status).to.equal(200);
    expect((await server.get("/clusters/nothing/api/v1/namespaces", { user: "admin" })).status).to.equal(403);
    expect((await server.get("/clusters/root:nothing/api/v1/namespaces", { user: "admin" })).status).to.equal(404);
  });

  it("serves kinds that a workspace defines", async () => {
    await using server = await startWorkspaces();
    const user = "admin";
    const definitions = `${ROOT}/apis/apiextensions.k8s.io/v1/customresourcedefinitions` as const;
    const made = await server.send(
      `POST ${definitions}`,
      crd("Widget", {
        scope: "Cluster",
        properties: { spec: { type: "object", properties: { size: { type: "integer", maximum: 3 } } } },
      }),
      { user },
    );
    expect(made.status, made.text).to.equal(201);
    await using watch = await server.watch(`${definitions}?watch=true&resourceVersion=0`, { user });
    await watch.until(
      ({ object }) =>
        JSON.stringify(object).includes('"type":"Established","status":"True"') ||
        /"Established"/.test(JSON.stringify(object)),
    );
    const widgets = `${ROOT}/apis/example.dev/v1/widgets` as const;
    const widget = (size: number) => ({
      apiVersion: "example.dev/v1",
      kind: "Widget",
      metadata: { name: `w${size}` },
      spec: { size },
    });
    expect((await server.send(`POST ${widgets}`, widget(2), { user })).status).to.equal(201);
    expect((await server.send(`POST ${widgets}`, widget(4), { user })).status).to.equal(422);
    expect((await server.get(`${widgets}/w2`, { user })).body.spec).to.deep.equal({ size: 2 });
    expect((await server.get("/clusters/system:admin/apis/example.dev/v1/widgets", { user: "root" })).status).to.equal(
      404,
    );
  });

  it("keeps objects over a restart", async () => {
    await using store = memoryStore();
    const user = "admin";
    const map = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, data: { x: "y" } };
    {
      await using server = await startWorkspaces(store);
      expect((await server.send(`POST ${ROOT}${CONFIG_MAPS}`, map, { user })).status).to.equal(201);
    }
    await using server = await startWorkspaces(store);
    expect((await server.get(`${ROOT}${CONFIG_MAPS}/a`, { user })).body.data).to.deep.equal({ x: "y" });
  });

  it("creates a tree of workspaces, each owned by its creator, and deletes them with their content", async () => {
    await using server = await startWorkspaces();
    const workspaces = "/apis/tenancy.kcp.io/v1alpha1/workspaces";
    const make = (at: string, name: string, user: string) =>
      server.send(
        `POST /clusters/${at}${workspaces}`,
        { apiVersion: "tenancy.kcp.io/v1alpha1", kind: "Workspace", metadata: { name } },
        { user },
      );
    const ready = async (at: string, name: string, user: string) => {
      const query = `?watch=true&fieldSelector=metadata.name=${name}&resourceVersion=0`;
      await using watch = await server.watch(`/clusters/${at}${workspaces}${query}`, { user });
      const events = await watch.until(
        ({ object }) => (object as unknown as { status?: { phase?: string } }).status?.phase === "Ready",
      );
      return events.at(-1)?.object as { spec?: { cluster?: string; URL?: string } };
    };
    expect((await make("root", "org", "admin")).status).to.equal(201);
    const org = await ready("root", "org", "admin");
    expect(org.spec?.URL).to.equal(`${server.url}/clusters/root:org`);
    expect((await make("root:org", "team", "admin")).status).to.equal(201);
    await ready("root:org", "team", "admin");
    const maps = "/clusters/root:org:team/api/v1/namespaces/default/configmaps";
    const map = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, data: {} };
    const made = await server.send(`POST ${maps}`, map, { user: "admin" });
    expect(made.status, made.text).to.equal(201);
    expect((await server.get(maps, { user: "bob" })).status).to.equal(403);
    await using watch = await server.watch(`/clusters/root${workspaces}?watch=true&resourceVersion=0`, {
      user: "admin",
    });
    expect((await server.send(`DELETE /clusters/root${workspaces}/org`, undefined, { user: "admin" })).status).to.equal(
      200,
    );
    await watch.until(({ type }) => type === "DELETED");
    expect((await server.get(maps, { user: "admin" })).status).to.equal(404);
    expect(
      (await server.get(`/clusters/*/api/v1/configmaps`, { user: "root" })).body.items.map(
        ({ metadata }: { metadata: { annotations: object } }) => Object.values(metadata.annotations)[0],
      ),
    ).to.not.include(org.spec?.cluster);
  });
});
