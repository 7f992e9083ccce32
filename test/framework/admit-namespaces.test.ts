// Admission gets enough information for Kubernetes' NamespaceLifecycle and for checks on how an object is deleted.
import { ApiError, type KubeObject } from "@virtual-workspaces/apimachinery";
import { type AdmitRequest, allow, defineResource, defineVirtualWorkspace } from "@virtual-workspaces/framework";
import { expect } from "chai";
import { Memo } from "../_support/audited.ts";
import { outcome, startPlain } from "../_support/plain.ts";

const Namespace = defineResource({
  group: "",
  version: "v1",
  kind: "Namespace",
  scope: "Cluster",
  schema: { type: "object", properties: { status: { type: "object", properties: { phase: { type: "string" } } } } },
});
const NAMESPACES = { group: "", resource: "namespaces" };
const at = (namespace: string, rest = ""): `/clusters/${string}` =>
  `/clusters/root/apis/test.dev/v1/namespaces/${namespace}/memos${rest}`;
const memo = (metadata: object) => ({ apiVersion: "test.dev/v1", kind: "Memo", metadata, spec: {} });

function setUp() {
  const namespaces = Namespace.collection();
  const memos = Memo.collection();
  const deletions: unknown[] = [];
  const admit = <T extends KubeObject>(request: AdmitRequest<T>): T | undefined => {
    const { operation, definition, object, deletion, params } = request;
    if (operation === "DELETE") deletions.push([definition.plural, deletion]);
    if (operation !== "CREATE" || definition.scope !== "Namespaced") return undefined;
    const { namespace = "", name } = object?.metadata ?? {};
    const there = namespaces.in(params["cluster"] ?? "").get(namespace);
    if (there === undefined) throw ApiError.notFound(NAMESPACES, namespace);
    if (there.status?.phase !== "Terminating") {
      const labels = { ...object?.metadata.labels, "claimed.example.dev": "yes" };
      return object && { ...object, metadata: { ...object.metadata, labels } };
    }
    throw ApiError.forbidden({
      resource: { group: definition.group, resource: definition.plural },
      name,
      message: `unable to create new content in namespace ${namespace} because it is being terminated`,
      causes: [
        {
          reason: "NamespaceTerminating",
          message: `namespace ${namespace} is being terminated`,
          field: "metadata.namespace",
        },
      ],
    });
  };
  const view = defineVirtualWorkspace({
    name: "own",
    prefix: "/clusters",
    path: "/:cluster",
    authorize: () => allow(),
    resources: [Namespace.serve(namespaces, { admit }), Memo.serve(memos, { admit })],
  });
  namespaces.in("root").set("there", {});
  namespaces.in("root").set("going", {});
  namespaces.in("root").setStatus("going", { phase: "Terminating" });
  return { view, memos, deletions };
}

describe("admission of namespaced objects", () => {
  it("admits an object into an existing namespace, with its own mutations", async () => {
    await using server = await startPlain([setUp().view]);
    const { status, body } = await server.send(`POST ${at("there")}`, memo({ name: "a", labels: { x: "y" } }));
    expect(status).to.equal(201);
    expect(body.metadata.labels).to.deep.equal({ x: "y", "claimed.example.dev": "yes" });
    const applied = await server.send(`PATCH ${at("there", "/b?fieldManager=me")}`, memo({ name: "b" }), {
      headers: { "content-type": "application/apply-patch+yaml" },
    });
    expect([applied.status, applied.body.metadata.labels]).to.deep.equal([201, { "claimed.example.dev": "yes" }]);
  });

  it("rejects with 404 for a missing namespace and 403 with a cause for a terminating one, and stores nothing", async () => {
    const { view, memos } = setUp();
    await using server = await startPlain([view]);
    const missing = await server.send(`POST ${at("nowhere")}`, memo({ generateName: "a-" }));
    expect(outcome(missing)).to.deep.equal([404, "NotFound", 'namespaces "nowhere" not found']);
    expect(missing.body.details).to.deep.equal({ name: "nowhere", kind: "namespaces" });
    const going = await server.send(`POST ${at("going")}`, memo({ name: "a" }));
    expect(outcome(going)).to.deep.equal([
      403,
      "Forbidden",
      'memos.test.dev "a" is forbidden: unable to create new content in namespace going because it is being terminated',
    ]);
    expect(going.body.details.causes).to.deep.equal([
      { reason: "NamespaceTerminating", message: "namespace going is being terminated", field: "metadata.namespace" },
    ]);
    const applied = await server.send(`PATCH ${at("going", "/b?fieldManager=me")}`, memo({ name: "b" }), {
      headers: { "content-type": "application/apply-patch+yaml" },
    });
    expect(applied.status).to.equal(403);
    expect(memos.in("root", "going").list()).to.deep.equal([]);
  });

  it("receives the options of a delete and of a deletecollection", async () => {
    const { view, memos, deletions } = setUp();
    for (const name of ["a", "b"]) memos.in("root", "there").set(name, {});
    await using server = await startPlain([view]);
    const options = { apiVersion: "v1", kind: "DeleteOptions", propagationPolicy: "Foreground", gracePeriodSeconds: 7 };
    expect((await server.send(`DELETE ${at("there", "/a")}`, options)).status).to.equal(200);
    expect((await server.send(`DELETE ${at("there")}?propagationPolicy=Background`)).status).to.equal(200);
    expect(deletions).to.deep.equal([
      ["memos", { dryRun: false, propagationPolicy: "Foreground", gracePeriodSeconds: 7 }],
      ["memos", { dryRun: false, propagationPolicy: "Background" }],
    ]);
  });
});

describe("validating admission", () => {
  async function start() {
    const memos = Memo.collection();
    const asked: unknown[] = [];
    const admit = (request: AdmitRequest): KubeObject | undefined => {
      const { operation, object } = request;
      request.validate((checked) => {
        asked.push([operation, checked.metadata.name, checked.metadata.labels, checked.metadata.uid !== undefined]);
      });
      request.validate(({ metadata }) => {
        if (metadata.labels?.["refused"] === operation.toLowerCase()) throw ApiError.badRequest(`no ${operation}`);
      });
      return (
        object && { ...object, metadata: { ...object.metadata, labels: { ...object.metadata.labels, by: "hook" } } }
      );
    };
    const view = defineVirtualWorkspace({
      name: "own",
      prefix: "/clusters",
      path: "/:cluster",
      authorize: () => allow(),
      resources: [Memo.serve(memos, { admit: admit as never })],
    });
    return { server: await startPlain([view]), asked };
  }

  it("receives the object as it will be stored, and never an invalid one, which gets 422 first", async () => {
    const { server, asked } = await start();
    await using _server = server;
    const invalid = await server.send(`POST ${at("n")}`, memo({ name: "No_Name", labels: { refused: "create" } }));
    expect([invalid.status, asked]).to.deep.equal([422, []]);
    const refused = await server.send(`POST ${at("n")}`, memo({ name: "a", labels: { refused: "create" } }));
    expect(outcome(refused)).to.deep.equal([400, "BadRequest", "no CREATE"]);
    expect(asked).to.deep.equal([["CREATE", "a", { refused: "create", by: "hook" }, true]]);
    expect((await server.get(at("n", "/a"))).status).to.equal(404);
  });

  it("is called for no-op writes, dry runs and deletes", async () => {
    const { server, asked } = await start();
    await using _server = server;
    const made = await server.send(`POST ${at("n")}`, memo({ generateName: "a-", labels: { refused: "delete" } }));
    const { name } = made.body.metadata;
    const again = await server.send(`PUT ${at("n", `/${name}`)}`, made.body);
    expect(again.body.metadata.resourceVersion).to.equal(made.body.metadata.resourceVersion);
    made.body.metadata.labels["refused"] = "update";
    const dry = await server.send(`PUT ${at("n", `/${name}?dryRun=All`)}`, made.body);
    const gone = await server.send(`DELETE ${at("n", `/${name}`)}`);
    expect([made.status, again.status, outcome(dry), outcome(gone)]).to.deep.equal([
      201,
      200,
      [400, "BadRequest", "no UPDATE"],
      [400, "BadRequest", "no DELETE"],
    ]);
    expect(asked.map((entry) => (entry as unknown[]).slice(0, 2))).to.deep.equal(
      ["CREATE", "UPDATE", "UPDATE", "DELETE"].map((operation) => [operation, name]),
    );
  });
});
