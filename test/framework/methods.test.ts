// Methods besides GET, and paths that Kubernetes interprets specially.
import { allow, defineResource, defineVirtualWorkspace } from "@virtual-workspaces/framework";
import { expect } from "chai";
import { startPlain } from "../_support/plain.ts";
import { Wire, type WireAnswer } from "../_support/wire.ts";

const define = (kind: string) =>
  defineResource({
    group: "",
    version: "v1",
    kind,
    scope: "Cluster",
    spec: { type: "object", properties: { text: { type: "string" } } },
  });
const Note = define("Note");
const Namespace = define("Namespace");
const verbs = ["get", "list", "watch"] as const;
const BASE = "/services/notes/clusters/root";
const NOTES = `${BASE}/api/v1/notes`;

async function start() {
  const notes = Note.collection();
  const namespaces = Namespace.collection();
  for (let n = 0; n < 300; n++) notes.in("root").set(`n${n}`, { text: "x".repeat(1000) });
  namespaces.in("root").set("ns", {});
  const view = defineVirtualWorkspace({
    name: "notes",
    path: "/clusters/:cluster",
    authorize: () => allow(),
    resources: [Note.serve(notes, { verbs }), Namespace.serve(namespaces, { verbs })],
  });
  const server = await startPlain([view]);
  const wire = await Wire.open(Number(new URL(server.url).port));
  return {
    /** All on one connection, so that a wrong length would corrupt the next response. */
    async ask(method: string, path: string): Promise<WireAnswer> {
      wire.request(`${method} ${path} HTTP/1.1`, "Host: x", "Authorization: Bearer alice");
      return (await wire.answer(method)) as WireAnswer;
    },
    wire,
    async [Symbol.asyncDispose]() {
      wire.socket.destroy();
      await server[Symbol.asyncDispose]();
    },
  };
}

describe("HEAD", () => {
  it("is GET without the body, for objects, lists of any size, and documents", async () => {
    await using server = await start();
    for (const path of [
      "/api/v1/notes/n1",
      "/api/v1/notes",
      "/api/v1/notes?limit=2",
      "/api",
      "/openapi/v2",
      "/version",
    ]) {
      const got = await server.ask("GET", BASE + path);
      const headed = await server.ask("HEAD", BASE + path);
      expect(headed).to.include({ status: 200, body: "" });
      for (const name of ["content-type", "content-length", "etag", "cache-control"])
        expect(headed.headers[name], `${path} ${name}`).to.equal(got.headers[name]);
    }
    expect((await server.ask("HEAD", `${NOTES}/missing`)).status).to.equal(404);
  });

  it("of a watch is 405: its response would never end", async () => {
    await using server = await start();
    expect((await server.ask("HEAD", `${NOTES}?watch=true`)).status).to.equal(405);
  });
});

describe("other methods", () => {
  it("are 405 for resources, named as in Kubernetes, and 404 elsewhere", async () => {
    await using server = await start();
    const verbs = { POST: "create", PUT: "update", PATCH: "patch", DELETE: "delete", OPTIONS: "OPTIONS", BIND: "BIND" };
    for (const [method, verb] of Object.entries(verbs)) {
      const { status, body } = await server.ask(method, method === "POST" ? NOTES : `${NOTES}/n1`);
      expect(status).to.equal(405);
      expect(JSON.parse(body).message).to.equal(`${verb} is not supported on resources of kind "notes"`);
      expect((await server.ask(method, `${BASE}/api/v1`)).status).to.equal(404);
    }
    expect(JSON.parse((await server.ask("DELETE", NOTES)).body).message).to.match(/^deletecollection is not/);
    expect((await server.ask("POST", `${BASE}/api/v1/watch/notes`)).status).to.equal(405);
  });
});

describe("special paths of Kubernetes", () => {
  it("name a namespace by its name, though it is also its own namespace", async () => {
    await using server = await start();
    expect(JSON.parse((await server.ask("GET", `${BASE}/api/v1/namespaces/ns`)).body)).to.include({
      kind: "Namespace",
    });
    expect(JSON.parse((await server.ask("GET", `${BASE}/api/v1/namespaces`)).body).items).to.have.length(1);
    expect((await server.ask("GET", `${BASE}/api/v1/namespaces/other`)).status).to.equal(404);
    expect((await server.ask("GET", `${BASE}/api/v1/namespaces/ns/status`)).status).to.equal(404);
    expect((await server.ask("GET", `${BASE}/api/v1/namespaces/ns/notes`)).status).to.equal(404);
  });

  it("watch by a path segment, as old clients do", async () => {
    await using server = await start();
    server.wire.request(`GET ${BASE}/api/v1/watch/notes/n7 HTTP/1.1`, "Host: x", "Authorization: Bearer alice");
    const text = (await server.wire.read(900)).toString();
    expect(text).to.include('{"type":"ADDED"').and.to.include('"name":"n7"');
  });

  it("treat a name with ?watch as a get", async () => {
    await using server = await start();
    expect(JSON.parse((await server.ask("GET", `${NOTES}/n1?watch=true`)).body)).to.include({ kind: "Note" });
  });
});
