// Watches over WebSockets, as browsers open them.
import { once } from "node:events";
import { allow, defineVirtualWorkspace, deny, readOnly, type VirtualWorkspace } from "@virtual-workspaces/framework";
import { expect } from "chai";
import { WebSocket } from "ws";
import { Note } from "../_support/note.ts";
import { startPlain } from "../_support/plain.ts";
import { labelOf as label, openWatch as open, rejection } from "../_support/web-socket.ts";

const NOTES = "/services/notes/clusters/root/apis/test.dev/v1/notes";
const TOKEN = `base64url.bearer.authorization.k8s.io.${Buffer.from("alice").toString("base64url")}`;

function setUp(view: Partial<VirtualWorkspace> = {}) {
  const notes = Note.collection();
  const views = [
    defineVirtualWorkspace({
      ...{ name: "notes", path: "/clusters/:cluster", authorize: () => allow() },
      resources: [Note.serve(notes)],
      ...view,
    } as Parameters<typeof defineVirtualWorkspace>[0]),
  ];
  return { root: notes.in("root"), views };
}

describe("a watch over a WebSocket", () => {
  it("sends each event as one text message", async () => {
    const { root, views } = setUp();
    await using server = await startPlain(views);
    root.set("first", { text: "é".repeat(70_000) });
    using watch = await open(
      server.url,
      `${NOTES}?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`,
    );
    expect(label(await watch.next())).to.equal("ADDED first");
    expect(JSON.parse(await watch.next()).object.metadata.annotations).to.have.property("k8s.io/initial-events-end");
    root.set("second", { text: "€" });
    root.set("third", { text: "a\nb" });
    root.delete("second");
    const seen = [label(await watch.next()), label(await watch.next()), label(await watch.next())];
    expect(seen).to.deep.equal(["ADDED second", "ADDED third", "DELETED second"]);
    expect(watch.response.headers["audit-id"]).to.match(/^[-0-9a-f]{36}$/);
  });

  it("takes a browser's token from the subprotocols, and accepts another one of them", async () => {
    const { root, views } = setUp();
    await using server = await startPlain(views);
    using watch = await open(server.url, `${NOTES}?watch=1`, {
      protocols: [TOKEN, "base64.binary.k8s.io"],
      headers: {},
    });
    expect(watch.socket.protocol).to.equal("base64.binary.k8s.io");
    root.set("a", { text: "1" });
    expect(label(await watch.next())).to.equal("ADDED a");
  });

  it("is a read for a view that only allows reads", async () => {
    const { root, views } = setUp({ authorize: readOnly() });
    await using server = await startPlain(views);
    using watch = await open(server.url, `${NOTES}?watch=true&fieldSelector=metadata.name%3Db`);
    root.set("a", { text: "1" });
    root.set("b", { text: "1" });
    expect(label(await watch.next())).to.equal("ADDED b");
  });

  it("is denied as any watch is", async () => {
    const { views } = setUp({ authorize: ({ verb }) => (verb === "watch" ? deny("no watches") : allow()) });
    await using server = await startPlain(views);
    expect(await rejection(open(server.url, `${NOTES}?watch=true`))).to.deep.equal([
      403,
      'notes.test.dev is forbidden: User "alice" cannot watch resource "notes" in API group "test.dev" at the cluster scope: no watches',
    ]);
    expect((await rejection(open(server.url, `${NOTES}?watch=true`, { headers: {} })))[0]).to.equal(401);
  });

  it("answers 400 to a list, and to an invalid handshake", async () => {
    const { views } = setUp();
    await using server = await startPlain(views);
    expect(await rejection(open(server.url, NOTES))).to.deep.equal([
      400,
      "virtual workspace notes does not take upgrades: remove the Upgrade header",
    ]);
    const headers = { authorization: "Bearer alice", connection: "Upgrade", upgrade: "websocket" };
    const { status, body } = await server.get(`${NOTES}?watch=true`, { headers });
    expect([status, body.message]).to.deep.equal([
      400,
      "invalid WebSocket handshake: Missing or invalid Sec-WebSocket-Key header: use version 13 of RFC 6455",
    ]);
    const expired = await rejection(open(server.url, `${NOTES}?watch=true&resourceVersion=x`));
    expect(expired[0]).to.equal(400);
  });

  it("ends with the close code of its reason", async () => {
    const { root, views } = setUp();
    await using server = await startPlain(views);
    using timed = await open(server.url, `${NOTES}?watch=true&timeoutSeconds=1`);
    expect(await timed.closed).to.equal(1000);
    root.set("a", { text: "1" });
    using old = await open(server.url, `${NOTES}?watch=true&resourceVersion=1`);
    const { type, object } = JSON.parse(await old.next());
    expect([type, object.code]).to.deep.equal(["ERROR", 410]);
    expect(await old.closed).to.equal(1000);
    using open1 = await open(server.url, `${NOTES}?watch=true`);
    const closed = server.server.close();
    expect(await open1.closed).to.equal(1001);
    await closed;
  });

  it("does not hold up the end of the server when the client does not answer", async () => {
    const { views } = setUp();
    await using server = await startPlain(views, { closeTimeout: 100 });
    using watch = await open(server.url, `${NOTES}?watch=true`);
    watch.socket.pause();
    await server.server.close();
    watch.socket.resume();
    expect(await watch.closed).to.be.oneOf([1001, 1006]);
  });

  it("ends when the client sends a message that is too large, and ignores others", async () => {
    const { root, views } = setUp();
    await using server = await startPlain(views);
    using watch = await open(server.url, `${NOTES}?watch=true`);
    watch.socket.send("hello");
    watch.socket.ping();
    await once(watch.socket, "pong");
    root.set("a", { text: "1" });
    expect(label(await watch.next())).to.equal("ADDED a");
    watch.socket.send("x".repeat(5000));
    expect(await watch.closed).to.equal(1009);
  });

  it("ends quietly when the client closes it during the initial events", async () => {
    const { root, views } = setUp();
    await using server = await startPlain(views);
    for (let at = 0; at < 60; at++) root.set(`n${at}`, { text: "x".repeat(200_000) });
    using watch = await open(
      server.url,
      `${NOTES}?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan`,
    );
    watch.socket.pause();
    watch.socket.close(1000);
    watch.socket.resume();
    expect(await watch.closed).to.be.oneOf([1000, 1005]);
  });

  it("gets warnings as they are, with letters beyond ASCII", async () => {
    const { root, views } = setUp({ resources: [Note.serve(Note.collection(), { warning: "gehört → anderswo" })] });
    await using server = await startPlain(views);
    root.set("a", { text: "1" });
    using watch = await open(server.url, `${NOTES}?watch=true`);
    const { headers } = await server.get(NOTES);
    expect(watch.response.headers["warning"]).to.equal(headers["warning"]);
    expect(Buffer.from(String(headers["warning"]), "latin1").toString()).to.equal('299 - "gehört → anderswo"');
  });

  it("does not make others wait for a client that does not read, which catches up", async () => {
    const { root, views } = setUp();
    await using server = await startPlain(views);
    using slow = await open(server.url, `${NOTES}?watch=true`);
    using quick = await open(server.url, `${NOTES}?watch=true`);
    slow.socket.pause();
    const text = "x".repeat(100_000);
    for (let at = 0; at < 200; at++) {
      root.set(`n${at}`, { text });
      expect(label(await quick.next())).to.equal(`ADDED n${at}`);
    }
    slow.socket.resume();
    for (let at = 0; at < 200; at++) expect(label(await slow.next())).to.equal(`ADDED n${at}`);
  });
});

describe("the origin of a page that opens a WebSocket", () => {
  const from = (origin: string) => ({ headers: { authorization: "Bearer alice", origin } });

  it("is the server's own, or one that the operator allows", async () => {
    const { views } = setUp();
    await using server = await startPlain(views, { corsAllowedOrigins: ["^https://console\\.example\\.com$"] });
    const path = `${NOTES}?watch=true`;
    using own = await open(server.url, path, from(server.url));
    using allowed = await open(server.url, path, from("https://console.example.com"));
    expect([own.socket.readyState, allowed.socket.readyState]).to.deep.equal([WebSocket.OPEN, WebSocket.OPEN]);
    for (const origin of ["https://console.example.com.evil.test", "http://console.example.com", "null"])
      expect(await rejection(open(server.url, path, from(origin)))).to.deep.equal([
        403,
        `forbidden: WebSockets of pages from "${origin}" are not allowed: the operator adds the origin to corsAllowedOrigins, or to --cors-allowed-origins`,
      ]);
  });

  it("is not the server's own without a scheme", async () => {
    const { views } = setUp();
    await using server = await startPlain(views);
    const headers = { authorization: "Bearer alice", origin: "null", host: "ull" };
    expect((await rejection(open(server.url, `${NOTES}?watch=true`, { headers })))[0]).to.equal(403);
  });

  it("is checked after authentication", async () => {
    const { views } = setUp();
    await using server = await startPlain(views);
    const headers = { origin: "https://evil.test" };
    expect((await rejection(open(server.url, `${NOTES}?watch=true`, { headers })))[0]).to.equal(401);
  });
});
