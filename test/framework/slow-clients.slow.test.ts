// Slow clients, with real clocks. Idle connections outlast Go's keep-alive and are closed at last. The server does not wait
// for heads and bodies that trickle in.
import { setTimeout as delay } from "node:timers/promises";
import { createServer, staticTokens } from "@virtual-workspaces/framework";
import { expect } from "chai";
import { testLog } from "../_setup/log.ts";
import { Authority, SERVER_AUTH } from "../_support/certificates.ts";
import { block, END_STREAM, Frames, TYPE } from "../_support/frames.ts";
import { Http2Client } from "../_support/http2.ts";
import { whoami } from "../_support/whoami.ts";
import { Wire } from "../_support/wire.ts";

const servers = Authority.root("servers");
const keys = servers.issue({ name: "server", usages: [SERVER_AUTH] });
const TLS = { ca: servers.cert };
const patience = 300_000;

async function start() {
  const server = createServer({
    virtualWorkspaces: [whoami()],
    authentication: [staticTokens({ token: { name: "alice" } })],
    tls: keys,
    log: testLog().log,
  });
  const { port } = await server.listen({ port: 0 });
  return {
    port,
    open: () => Wire.open(port, { tls: TLS, patience }),
    [Symbol.asyncDispose]: () => server.close(),
  };
}

const seconds = (began: number): number => (performance.now() - began) / 1000;

/** Writes now and then until the server closes the connection. @returns the seconds that took */
async function trickle(socket: Wire["socket"], write: () => void): Promise<number> {
  const began = performance.now();
  const timer = setInterval(write, 1000);
  socket.on("error", () => undefined);
  if (!socket.destroyed) await new Promise((resolve) => socket.once("close", resolve));
  clearInterval(timer);
  return seconds(began);
}

describe("slow clients", function () {
  this.timeout(400_000);

  it("may stay idle for longer than Go keeps a connection, and are disconnected after two minutes and a little", async () => {
    await using server = await start();
    using wire = await server.open();
    using client = await Http2Client.open(server.port, TLS);
    using idle = await Http2Client.open(server.port, TLS);
    const ask = async (): Promise<void> => {
      wire.request("GET /livez HTTP/1.1", "Host: x");
      expect((await wire.answer())?.body).to.equal("ok");
      expect((await client.get("/livez")).text).to.equal("ok");
    };
    using quiet = await server.open();
    quiet.request("GET /livez HTTP/1.1", "Host: x");
    expect((await quiet.answer())?.body).to.equal("ok");
    await ask();
    await idle.get("/livez");
    const began = performance.now();
    await delay(100_000);
    expect(idle.session.destroyed).to.equal(false);
    await ask();
    await Promise.all([idle.closed, quiet.end()]);
    expect(seconds(began)).to.be.within(119, 130);
    expect(idle.goaways).to.deep.equal([0]);
    await ask();
  });

  it("are rejected when they never finish a head", async () => {
    await using server = await start();
    using half = await server.open();
    half.send("GET /livez HTTP/1.1\r\nHost: x\r\n");
    using silent = await Http2Client.open(server.port, TLS);
    using handshake = await Wire.open(server.port, { patience });
    using endless = await Frames.open(server.port, TLS);
    endless.headers(1, [[":method", "GET"]], END_STREAM);
    const continued = block([["x-pad", "x"]]);
    const began = performance.now();
    const [head, continuations] = await Promise.all([
      trickle(half.socket, () => half.send("X-Pad: x\r\n")),
      trickle(endless.socket, () => endless.send({ type: TYPE.continuation, stream: 1, payload: continued })),
      silent.closed,
      handshake.end(),
    ]);
    expect((await half.answer())?.status).to.equal(408);
    expect(head).to.be.below(70);
    expect(continuations).to.be.below(45);
    expect(seconds(began)).to.be.above(30);
  });

  it("are disconnected when they keep sending a body after their error response", async () => {
    await using server = await start();
    using wire = await server.open();
    wire.request("POST /services/who/ HTTP/1.1", "Host: x", "Content-Length: 1000000");
    expect((await wire.answer())?.status).to.equal(401);
    expect(await trickle(wire.socket, () => wire.send("x"))).to.be.within(30, 40);
  });
});
