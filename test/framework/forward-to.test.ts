// A resource whose requests are forwarded whole: the forwarded request, and the resource in discovery.
import { once } from "node:events";
import { connect } from "node:net";
import { ApiError } from "@virtual-workspaces/apimachinery";
import { allow, defineResource, defineVirtualWorkspace, deny } from "@virtual-workspaces/framework";
import type { ForwardingHandlers } from "@virtual-workspaces/framework/resource";
import { expect } from "chai";
import { outcome, type PlainServer, startPlain } from "../_support/plain.ts";

const Note = defineResource({
  ...{ group: "test.dev", version: "v1", kind: "Note", scope: "Cluster" },
  spec: { type: "object", properties: { text: { type: "string" } } },
  status: { type: "object", properties: { read: { type: "boolean" } } },
});
const NOTES = "/services/notes/clusters/root/apis/test.dev/v1/notes";

async function start(handlers: Partial<ForwardingHandlers> = {}): Promise<PlainServer> {
  const handle: ForwardingHandlers["handle"] = (req, res, { user, prefix, tail, search, params }) => {
    const { cluster } = params;
    res.end(JSON.stringify([req.method, user.name, prefix, tail + search, cluster, req.rawHeaders]));
  };
  const passed = Note.forwardTo({ handle, ...handlers });
  const identified = Note.forwardTo({ handle }, { identity: "a1" });
  const view = defineVirtualWorkspace({
    name: "notes",
    path: "/clusters/:cluster",
    wildcard: true,
    authorize: ({ user, verb }) => (user.name === "bob" || verb === "deletecollection" ? deny("no") : allow()),
    resources: ({ params }) => (params["cluster"] === "*" ? [identified] : [passed]),
  });
  return startPlain([view]);
}

describe("a forwarded resource", () => {
  it("gets authorized requests unchanged, without identity headers", async () => {
    await using server = await start();
    expect((await server.get(`${NOTES}/a%2Fb`)).status).to.equal(400);
    for (const [call, tail] of [
      ["GET /a?watch=true&x=%2F", "/a?watch=true&x=%2F"],
      ["PUT /a/status", "/a/status"],
      ["POST /a/anything/below", "/a/anything/below"],
    ] as const) {
      const [method = "", path = ""] = call.split(" ");
      const headers = { "x-remote-user": "mallory", "x-own": "yes" };
      const answer = await server.send(`${method} ${NOTES}${path}` as `GET /`, { any: "thing" }, { headers });
      const [as, user, prefix, rest, cluster, lines] = JSON.parse(answer.text);
      expect([as, user, prefix, rest, cluster]).to.deep.equal([
        ...[method, "alice", "/services/notes/clusters/root", `/apis/test.dev/v1/notes${tail}`, "root"],
      ]);
      expect(lines.join("\n"))
        .to.include("yes")
        .and.not.match(/mallory|Bearer/);
    }
    expect((await server.get(NOTES, { user: "bob" })).status).to.equal(403);
    expect((await server.send(`DELETE ${NOTES}`)).status).to.equal(403);
  });

  it("is read-only over all logical clusters, by its identity where it has one", async () => {
    await using server = await start();
    const all = NOTES.replace("root", "*") as `/${string}`;
    expect((await server.get(`${all}:a1`)).status).to.equal(200);
    expect((await server.get(all)).status).to.equal(404);
    expect(outcome(await server.send(`POST ${all}:a1`, {}))[0]).to.equal(405);
    expect(() => Note.forwardTo({ handle: () => undefined }, { identity: "a b" })).to.throw("must be letters");
  });

  it("answers with its handler's exception, and rejects upgrades without a handler", async () => {
    const handle = (): never => {
      throw ApiError.serviceUnavailable("come again", 1);
    };
    await using server = await start({ handle });
    expect(outcome(await server.get(NOTES))).to.deep.equal([503, "ServiceUnavailable", "come again"]);
    const lines = ["Host: x", "Authorization: Bearer alice", "Connection: Upgrade", "Upgrade: echo", "", "hello"];
    const said = async (one: PlainServer, until: string): Promise<string> => {
      const socket = connect(Number(new URL(one.url).port), "127.0.0.1");
      socket.write([`GET ${NOTES}/a HTTP/1.1`, ...lines].join("\r\n"));
      let text = "";
      while (!text.includes(until)) text += String((await once(socket, "data"))[0]);
      socket.destroy();
      return text;
    };
    expect(await said(server, "notes do not take upgrades")).to.match(/^HTTP\/1.1 400 /);
    await using other = await start({
      upgrade: (_req, socket, { user, head }) => void socket.end(`HTTP/1.1 101 Go\r\n\r\n${user.name} says ${head}`),
    });
    expect(await said(other, "says")).to.match(/alice says hello$/);
  });

  it("forwards no upgrade of a request that another resource serves", async () => {
    const forwarded: (string | undefined)[] = [];
    const writes = Note.serve(Note.collection());
    await using server = await start({
      upgrade: (req, socket) => {
        forwarded.push(req.method);
        socket.end("HTTP/1.1 101 Go\r\n\r\n");
      },
      instead: ({ verb }) => (verb === "delete" || verb === "create" ? writes : undefined),
    });
    const headers = { authorization: "Bearer alice", connection: "Upgrade", upgrade: "echo" };
    const message = "notes do not take upgrades: remove the Upgrade header";
    for (const call of [`DELETE ${NOTES}/a`, `POST ${NOTES}`] as const)
      expect(outcome(await server.send(call, undefined, { headers }))).to.deep.equal([400, "BadRequest", message]);
    expect(forwarded).to.deep.equal([]);
    expect((await server.send(`DELETE ${NOTES}/a`)).status).to.equal(404);
  });

  it("gets upgrades of watches of its objects as reads, and others only for users who may upgrade", async () => {
    const forwarded: string[] = [];
    const passed = Note.forwardTo({
      handle: () => undefined,
      upgrade: (_req, socket, { tail }) => {
        forwarded.push(tail);
        socket.end("HTTP/1.1 400 Bad Request\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}");
      },
    });
    const view = defineVirtualWorkspace({
      ...{ name: "notes", path: "/clusters/:cluster", resources: [passed] },
      authorize: ({ upgrade }) => (upgrade ? deny("no tunnels") : allow()),
    });
    await using server = await startPlain([view]);
    const headers = { authorization: "Bearer alice", connection: "upgrade", upgrade: "websocket" };
    const ask = async (tail: string) => (await server.get(`/services/notes/clusters/root${tail}`, { headers })).status;
    const base = "/apis/test.dev/v1";
    for (const tail of [`${base}/notes/a`, `${base}/watch/notes/a/shell`]) expect(await ask(tail), tail).to.equal(403);
    expect(forwarded).to.deep.equal([]);
    for (const tail of [`${base}/notes?watch=true`, `${base}/watch/notes/a`]) expect(await ask(tail)).to.equal(400);
    expect(forwarded).to.deep.equal([`${base}/notes`, `${base}/watch/notes/a`]);
  });

  it("is advertised with its current verbs, or left out with a warning", async () => {
    let verbs: () => Record<string, string[]> = () => ({ "": ["watch", "get", "sing"], status: ["patch", "get"] });
    let asked = 0;
    await using server = await start({
      discover: () => {
        asked++;
        return verbs();
      },
    });
    const base = "/services/notes/clusters/root";
    const listed = async (): Promise<unknown> =>
      (await server.get(`${base}/apis/test.dev/v1`)).body.resources.map((one: { name: string; verbs: string[] }) => [
        one.name,
        one.verbs,
      ]);
    expect(await listed()).to.deep.equal([
      ["notes", ["get", "watch"]],
      ["notes/status", ["get", "patch"]],
    ]);
    const headers = { accept: "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList" };
    expect((await server.get(`${base}/apis`, { headers })).text).to.include('"verbs":["get","watch"]');
    expect(asked).to.equal(2);
    for (const path of ["/apis", "/apis/test.dev", "/api", "/openapi/v3", "/version"]) await server.get(base + path);
    expect(asked, "of what tells no verbs").to.equal(2);
    verbs = () => {
      throw new Error("away");
    };
    const away = await server.get(`${base}/apis/test.dev/v1`);
    const warning = away.headers["warning"];
    expect([away.status, away.body.resources, warning]).to.deep.equal([
      ...[200, [], '299 - "Some resources are temporarily unavailable: [notes.test.dev]."'],
    ]);
    expect((await server.get(`${base}/apis`, { headers })).headers["warning"]).to.equal(warning);
    expect((await server.get(`${base}/openapi/v3/apis/test.dev/v1`)).text).to.include("/notes/{name}");
  });
});
