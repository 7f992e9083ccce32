// A view with a prefix of its own works like any other, has no paths below /services, and keeps its prefix to itself.
import { once } from "node:events";
import { createServer as createHttp } from "node:http";
import type { AddressInfo } from "node:net";
import {
  allow,
  createServer,
  defineVirtualWorkspace,
  deny,
  staticTokens,
  type VirtualWorkspace,
} from "@virtual-workspaces/framework";
import { virtualWorkspaces } from "@virtual-workspaces/framework/server";
import { expect } from "chai";
import express from "express";
import { expectFault } from "../_setup/faults.ts";
import { testLog } from "../_setup/log.ts";
import { Note } from "../_support/note.ts";
import { label, outcome, startPlain } from "../_support/plain.ts";
import { Wire } from "../_support/wire.ts";

const authentication = [staticTokens({ alice: { name: "alice" } })];

function views(prefix = "/clusters"): readonly VirtualWorkspace[] {
  const notes = Note.collection();
  notes.in("root").set("a", { text: "here" });
  const shared = { authorize: () => allow(), resources: [Note.serve(notes)] };
  return [
    defineVirtualWorkspace({
      name: "own",
      prefix,
      path: "/:cluster",
      ...shared,
      upgrade: (_req, socket, { prefix, tail }) => {
        socket.end(`HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n${prefix} ${tail}`);
      },
    }),
    defineVirtualWorkspace({ name: "named", path: "/clusters/:cluster", ...shared }),
  ];
}
const NOTES = "/clusters/root/apis/test.dev/v1/notes";

describe("a view with a prefix of its own", () => {
  it("serves objects, discovery, OpenAPI and watches there, and nothing below /services", async () => {
    await using server = await startPlain(views());
    expect((await server.get(`${NOTES}/a`)).body.spec).to.deep.equal({ text: "here" });
    expect((await server.get("/clusters/root/apis/test.dev/v1")).body.resources[0].name).to.equal("notes");
    const { paths } = (await server.get("/clusters/root/openapi/v3")).body;
    const { serverRelativeURL } = paths["apis/test.dev/v1"];
    expect(serverRelativeURL).to.match(/^\/clusters\/root\/openapi\/v3\/apis\/test\.dev\/v1\?hash=/);
    expect((await server.get(serverRelativeURL)).status).to.equal(200);
    await using watch = await server.watch(`${NOTES}?watch=true`);
    expect(label(await watch.next())).to.equal("ADDED a");
    expect((await server.get("/services/named/clusters/root/apis/test.dev/v1/notes")).body.items).to.have.length(1);
    expect(outcome(await server.get("/services/own/root/api"))).to.deep.equal([
      404,
      "NotFound",
      'virtual workspace "own" is not below /services; it is at /clusters',
    ]);
    expect((await server.get("/readyz/own")).text).to.equal("ok");
  });

  it("reveals nothing without authentication, and shows the path below the prefix in a 403", async () => {
    const closed = defineVirtualWorkspace({
      name: "x",
      prefix: "/a/b",
      path: "/",
      authorize: () => deny("no"),
      resources: [],
    });
    await using server = await startPlain([closed]);
    for (const path of ["/a/b/api", "/a", "/other"])
      expect((await server.get(path, { headers: { authorization: "" } })).status, path).to.equal(401);
    expect((await server.get("/a/b/api")).body.message).to.contain('cannot get path "/api": no');
  });

  it("takes precedence over the server's own application, which serves all other paths", async () => {
    await using server = await startPlain(views());
    server.server.app.use((req, res) => void res.send(`app ${req.path}`));
    expect((await server.get(`${NOTES}/a`)).status).to.equal(200);
    expect((await server.get("/clusters")).status).to.equal(404);
    expect((await server.get("/clusters?watch=true")).status).to.equal(404);
    expect((await server.get("/clustersx/root")).text).to.equal("app /clustersx/root");
    expect((await server.get("/")).text).to.equal("app /");
  });

  it("can serve all other paths, after the application's routes, and only authorizes those", async () => {
    const rest = defineVirtualWorkspace({
      name: "rest",
      prefix: "/",
      path: "/",
      authorize: ({ path }) => (path === "/secret" ? deny("no") : allow()),
      resources: [Note.serve(Note.collection())],
    });
    await using server = await startPlain([...views(), rest]);
    server.server.app.get("/app", (_req, res) => void res.send("app"));
    expect((await server.get("/app")).text).to.equal("app");
    expect((await server.get("/apis/test.dev/v1")).body.resources[0].name).to.equal("notes");
    expect((await server.get("/secret")).body.message).to.equal(
      'forbidden: User "alice" cannot get path "/secret": no',
    );
    expect((await server.get("/nothing")).status).to.equal(404);
    expect((await server.get("/services/nothing")).body.message).to.contain("there is no virtual workspace");
    expect((await server.get("/", { headers: { authorization: "" } })).status).to.equal(401);
    const { paths } = (await server.get("/")).body;
    expect(paths).to.include.members(["/api", "/apis/test.dev", "/apis/test.dev/v1", "/openapi/v3", "/version"]);
    expect((await server.get("/clusters/root")).body.paths).to.deep.equal(paths);
  });

  it("with the prefix / authorizes the explanation of a 404 below /services, and serves nothing there", async () => {
    let handled = 0;
    const rest = defineVirtualWorkspace({
      name: "rest",
      prefix: "/",
      path: "/",
      authorize: ({ user }) => (user.name === "root" ? allow() : deny("no")),
      handle: (_req, res) => void res.end(String(++handled)),
      upgrade: (_req, socket) => {
        handled++;
        socket.destroy();
      },
    });
    const users = staticTokens({ alice: { name: "alice" }, root: { name: "root" } });
    await using server = await startPlain([...views(), rest], { authentication: [users] });
    const [known, strange] = ["/services/named/cluster/root", "/services/nothing/x"] as const;
    for (const [path, why] of [
      ["/services/named", "/services/named is followed by /clusters/:cluster; clusters is missing in /services/named"],
      [known, "/services/named is followed by /clusters/:cluster, not by /cluster/root"],
      [strange, 'there is no virtual workspace "nothing"; see /services/<name>, /clusters'],
    ] as const) {
      expect(outcome(await server.get(path, { user: "root" }))).to.deep.equal([404, "NotFound", why]);
      const no = `forbidden: User "alice" cannot get path "${path}": no`;
      expect(outcome(await server.get(path))).to.deep.equal([403, "Forbidden", no]);
      expect((await server.get(path, { headers: { authorization: "" } })).status).to.equal(401);
    }
    const headers = { connection: "Upgrade", upgrade: "x" };
    expect((await server.get(known, { user: "root", headers })).status).to.equal(404);
    expect((await server.get("/services/named/clusters//x", { user: "root" })).status).to.equal(400);
    expect(handled).to.equal(0);
    expect((await server.get("/other", { user: "root" })).text).to.equal("1");
  });

  it("receives the requests that retarget sends there", async () => {
    await using server = await startPlain(views(), {
      retarget: ({ url = "", headers }) => {
        if (headers["x-fail"] !== undefined) throw new Error("fails");
        return url.startsWith("/old/") ? url.replace("/old", "/clusters/root") : undefined;
      },
    });
    expect((await server.get("/old/apis/test.dev/v1/notes?limit=1")).body.items).to.have.length(1);
    expect((await server.get("/older")).status).to.equal(404);
    expect((await server.get(`${NOTES}/a`, { headers: { "x-fail": "1" } })).status).to.equal(200);
    expectFault(/retarget failed/);
  });

  it("is served by the middleware, including upgrades", async () => {
    const middleware = virtualWorkspaces({ virtualWorkspaces: views("/own"), authentication, log: testLog().log });
    await middleware.started;
    const http = createHttp(express().use(middleware, (req, res) => void res.send(`app ${req.path}`)));
    http.on("upgrade", (req, socket, head) => {
      if (!middleware.upgrade(req, socket, head)) socket.end("HTTP/1.1 426 Upgrade Required\r\n\r\n");
    });
    await once(http.listen(0, "127.0.0.1"), "listening");
    const { port } = http.address() as AddressInfo;
    const told = async (target: string, ...lines: readonly string[]): Promise<string> => {
      using wire = await Wire.open(port);
      wire.request(`GET ${target} HTTP/1.1`, "Host: x", "Authorization: Bearer alice", "Connection: close", ...lines);
      return await wire.rest();
    };
    expect(await told("/own/root/apis/test.dev/v1/notes/a")).to.contain('"text":"here"');
    expect(await told("/owner")).to.contain("app /owner");
    expect(await upgraded(port, "/own/root/x")).to.match(/^HTTP\/1.1 101 .*\r\n\r\n\/own\/root \/x$/s);
    expect(await upgraded(port, "/clusters/root/x")).to.match(/^HTTP\/1.1 426 /);
    await middleware[Symbol.asyncDispose]();
    http.close();
    await once(http, "close");
  });

  it("must not conflict with another prefix", () => {
    const at = (name: string, prefix: string) =>
      defineVirtualWorkspace({ name, prefix, path: "/", authorize: () => allow(), resources: [] });
    expect(() => at("a", "/services/x")).to.throw("/services belongs to the server");
    const clashing = { virtualWorkspaces: [at("a", "/x"), at("b", "/x/y")], authentication };
    expect(() => createServer(clashing)).to.throw("virtual workspaces a (/x) and b (/x/y) overlap");
    expect(() => virtualWorkspaces(clashing)).to.throw("overlap");
  });
});

async function upgraded(port: number, target: string): Promise<string> {
  using wire = await Wire.open(port);
  const lines = ["Host: x", "Authorization: Bearer alice", "Connection: Upgrade", "Upgrade: test"];
  wire.request(`GET ${target} HTTP/1.1`, ...lines);
  return await wire.rest();
}
