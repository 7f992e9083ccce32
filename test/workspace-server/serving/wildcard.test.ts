// The wildcard over all logical clusters, and the annotation that names an object's logical cluster.
import { expect } from "chai";
import { outcome } from "../../_support/plain.ts";
import { startWorkspaces } from "../support/workspaces.ts";
import { seeded } from "./seeded.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";
const APPLY = { "content-type": "application/apply-patch+yaml" };
const map = (name: string, annotations?: object) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, ...(annotations && { annotations }) },
  data: { a: "b" },
});
const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: "default" } };

async function start() {
  const store = await seeded({ workspace: "org", cluster: "2abc" });
  const server = await startWorkspaces(store);
  await server.send("POST /clusters/2abc/api/v1/namespaces", namespace, { user: "root" });
  return {
    server,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await store[Symbol.asyncDispose]();
    },
  };
}

describe("/clusters/*", () => {
  it("allows only list and watch, and only to system:masters", async () => {
    await using held = await start();
    const { server } = held;
    const user = "root";
    await using watch = await server.watch("/clusters/*/api/v1/configmaps?watch=true&fieldSelector=metadata.name=a", {
      user,
    });
    for (const cluster of ["root", "2abc"])
      expect((await server.send(`POST /clusters/${cluster}${MAPS}`, map("a"), { user })).status).to.equal(201);
    const clusters = [await watch.next(), await watch.next()].map(
      ({ object }) => object.metadata?.annotations?.["kcp.io/cluster"],
    );
    expect(clusters).to.have.members(["root", "2abc"]);
    const list = await server.get("/clusters/*/api/v1/configmaps?fieldSelector=metadata.name=a", { user });
    expect(list.body.items).to.have.length(2);
    for (const [call, verb, kind] of [
      [`GET /clusters/*${MAPS}/a`, "get", "configmaps"],
      [`POST /clusters/*${MAPS}`, "create", "configmaps"],
      [`PUT /clusters/*${MAPS}/a`, "update", "configmaps"],
      [`PATCH /clusters/*${MAPS}/a`, "patch", "configmaps"],
      [`DELETE /clusters/*${MAPS}/a`, "delete", "configmaps"],
      [`DELETE /clusters/*${MAPS}`, "deletecollection", "configmaps"],
      ["GET /clusters/*/apis/core.kcp.io/v1alpha1/logicalclusters/cluster", "get", "logicalclusters.core.kcp.io"],
      [
        "POST /clusters/*/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
        "create",
        "selfsubjectaccessreviews.authorization.k8s.io",
      ],
      [
        "POST /clusters/*/apis/authentication.k8s.io/v1/selfsubjectreviews",
        "create",
        "selfsubjectreviews.authentication.k8s.io",
      ],
    ] as const) {
      const [method, path] = call.split(" ");
      const body = method === "GET" ? undefined : map("a");
      const headers = method === "PATCH" ? { "content-type": "application/merge-patch+json" } : {};
      const answer = await server.send(`${method} ${path}` as "GET /", body, { user, headers });
      expect(outcome(answer), call).to.deep.equal([
        405,
        "MethodNotAllowed",
        `${verb} is not supported on resources of kind "${kind}" in the \`*\` logical cluster`,
      ]);
      const [resource, ...group] = kind.split(".");
      expect(answer.body.details).to.deep.equal({
        ...(group.length > 0 && { group: group.join(".") }),
        kind: resource,
      });
      for (const other of ["admin", "alice"])
        expect((await server.send(`${method} ${path}` as "GET /", body, { user: other, headers })).status).to.equal(
          403,
        );
    }
    for (const path of ["/api/v1/configmaps", "/api", "/version", "/apis"])
      expect((await server.get(`/clusters/*${path}`, { user: "admin" })).body.message).to.match(/: access denied$/);
    expect((await server.get("/clusters/*/apis", { user })).body.groups).to.not.be.empty;
  });

  it("shows the logical cluster in every response, without a field manager for it", async () => {
    await using held = await start();
    const { server } = held;
    const user = "root";
    const path = `/clusters/2abc${MAPS}` as const;
    const its = (body: { metadata: { annotations?: object } }) =>
      expect(body.metadata.annotations, JSON.stringify(body)).to.deep.equal({ "kcp.io/cluster": "2abc" });
    const lie = map("a", { "kcp.io/cluster": "root" });
    its((await server.send(`POST ${path}?dryRun=All`, lie, { user })).body);
    const made = await server.send(`POST ${path}`, lie, { user });
    its(made.body);
    its((await server.get(`${path}/a`, { user })).body);
    its((await server.send(`PUT ${path}/a`, { ...lie, data: { a: "c" } }, { user })).body);
    const applied = await server.send(`PATCH ${path}/a?fieldManager=x&force=true`, lie, { user, headers: APPLY });
    its(applied.body);
    const patched = await server.send(
      `PATCH ${path}/a`,
      { metadata: { annotations: { "kcp.io/cluster": null } } },
      { user, headers: { "content-type": "application/merge-patch+json" } },
    );
    its(patched.body);
    for (const body of [made.body, applied.body, patched.body])
      expect(JSON.stringify(body.metadata.managedFields)).to.not.contain("kcp.io/cluster");
    const list = await server.get(`${path}?fieldSelector=metadata.name=a`, { user });
    its(list.body.items[0]);
    for (const as of ["Table", "PartialObjectMetadataList"]) {
      const accept = `application/json;as=${as};g=meta.k8s.io;v=v1`;
      const { body } = await server.get(`${path}?fieldSelector=metadata.name=a`, { user, headers: { accept } });
      its(as === "Table" ? body.rows[0].object : body.items[0]);
    }
    await server.send(`POST ${path}`, map("b"), { user });
    const gone = await server.send(`DELETE ${path}?fieldSelector=metadata.name=b`, undefined, { user });
    its(gone.body.items[0]);
  });
});
