// Tunnels over a proxy that forwards WebSockets and no other upgrades.
import { once } from "node:events";
import { createServer, request, type Server } from "node:http";
import { type AddressInfo, connect } from "node:net";
import type { Duplex } from "node:stream";
import { expect } from "chai";
import { startTarget, type Target } from "../mounts/support/mounted.ts";
import { apiOf, isReady, TestHub } from "./support/hub.ts";

/** A load balancer that forwards requests, and only WebSockets as upgrades. */
async function startBalancer(to: string): Promise<Server> {
  const { port, hostname } = new URL(to);
  const server = createServer((req, res) => {
    const { method, headers, url: path } = req;
    req.pipe(
      request({ port, hostname, method, headers, path }, (answer) => {
        res.writeHead(answer.statusCode ?? 0, answer.headers);
        answer.pipe(res);
      }),
    );
  });
  server.on("upgrade", (req, socket: Duplex, head: Buffer) => {
    if (req.headers.upgrade !== "websocket")
      return void socket.end("HTTP/1.1 400 Bad Request\r\ncontent-length: 7\r\nconnection: close\r\n\r\nno such");
    const there = connect(Number(port), hostname);
    const lines = req.rawHeaders
      .map((text, at) => (at % 2 === 0 ? `${text}: ${req.rawHeaders[at + 1]}` : ""))
      .filter(Boolean);
    there.write(`${[`GET ${req.url} HTTP/1.1`, ...lines].join("\r\n")}\r\n\r\n`);
    there.write(head);
    socket.pipe(there).pipe(socket);
    for (const [one, other] of [
      [socket, there],
      [there, socket],
    ] as const)
      one.on("error", () => undefined).on("close", () => other.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return server;
}

describe("tunnel in a WebSocket", function () {
  this.timeout(30_000);
  let hub: TestHub;
  let target: Target;
  let balancer: Server;
  const large = Buffer.alloc(8 * 1024 * 1024, "0123456789abcdef");

  before(async () => {
    hub = await TestHub.start();
    target = await startTarget((req, res) => {
      let length = 0;
      req.on("data", (piece: Buffer) => (length += piece.length));
      req.on("end", () => (req.method === "POST" ? res.end(String(length)) : res.end(large)));
    });
    balancer = await startBalancer(hub.server.url);
    await hub.make("framed");
  });
  after(async () => {
    await hub?.[Symbol.asyncDispose]();
    await target?.[Symbol.asyncDispose]();
    balancer?.closeAllConnections();
    balancer?.close();
  });

  it("is the agent's fallback, and transfers large bodies unchanged", async () => {
    const url = hub
      .agentsAt("framed")
      .url.replace(hub.server.url, `http://127.0.0.1:${(balancer.address() as AddressInfo).port}`);
    await using agent = await hub.agent("framed", { hub: { url }, api: apiOf(target) });
    const { error } = await agent.seen("failed");
    expect(String(error)).to.match(/the hub: answered 400 without a Status: no such/);
    await agent.seen("connected");
    await hub.until("framed", isReady);
    const answer = await hub.at("framed").get("/api/v1/pods", { user: "alice" });
    expect([answer.status, answer.text.length]).to.deep.equal([200, large.length]);
    const sent = await hub
      .at("framed")
      .send("POST /api/v1/namespaces/default/pods", large.toString(), { user: "alice" });
    expect([sent.status, sent.text]).to.deep.equal([200, String(large.length)]);
  });

  it("is open to agents only", async () => {
    const { url } = hub.agentsAt("framed");
    const asked = async (headers: Readonly<Record<string, string>>): Promise<number | undefined> => {
      const req = request(`${url}/tunnel`, {
        agent: false,
        headers: {
          connection: "Upgrade",
          upgrade: "websocket",
          "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
          "sec-websocket-version": "13",
          ...headers,
        },
      }).end();
      const [res] = (await once(req, "response")) as [import("node:http").IncomingMessage];
      res.resume();
      return res.statusCode;
    };
    expect(
      await asked({ authorization: "Bearer bob", "sec-websocket-protocol": "virtual-workspaces-tunnel.v1" }),
    ).to.equal(403);
    expect(
      await asked({ authorization: "Bearer alice", "sec-websocket-protocol": "virtual-workspaces-tunnel.v1" }),
    ).to.equal(404);
  });
});
