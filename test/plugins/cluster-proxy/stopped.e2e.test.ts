// A real agent that is stopped until its hub has closed the tunnel, by each kind of connection.
import { once } from "node:events";
import { createServer } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { startRelay } from "../../_support/relay.ts";
import { createAuthority, type TestAuthority } from "../../_support/server.ts";
import { AgentProgram } from "../../go/support/agent.ts";
import { kubeconfigOf, startTarget, type Target } from "../mounts/support/mounted.ts";
import { bootstrapOf, isReady, OtherHub, TestHub } from "./support/hub.ts";

/** Dead ends are detected within three intervals. The agent has the default: it would take 9 to 13.5 s. */
const FAST = { heartbeat: { interval: 150 } };
/** Time until the agent has a tunnel again, ms: less than two of its intervals. */
const SOON = 5_000;

describe("agent that continues after its hub has closed the tunnel", function () {
  this.timeout(60_000);
  let hub: TestHub;
  let target: Target;

  before(async () => {
    hub = await TestHub.start();
    target = await startTarget((req, res) => {
      if (req.url?.includes("watch=true") === true)
        return void res.writeHead(200, { "content-type": "application/json" }).write('{"type":"BOOKMARK"}\n');
      res.end("{}");
    });
  });
  after(async () => {
    await hub?.[Symbol.asyncDispose]();
    await target?.[Symbol.asyncDispose]();
  });

  for (const tls of [true, false])
    for (const framed of [false, true])
      it(`dials at once with two open watches, over ${tls ? "TLS" : "TCP"} ${framed ? "in a WebSocket" : "alone"}`, async () => {
        const name = `${tls ? "tls" : "tcp"}-${framed ? "framed" : "alone"}`;
        await hub.make(name);
        const authority = tls ? createAuthority() : undefined;
        await using other = await OtherHub.start(hub, { tunnel: FAST }, authority);
        await using refusing = await startRefusing(authority);
        let times = 0;
        // The second connection is for the first tunnel.
        const port = (url: string) => Number(new URL(url).port);
        await using way = await startRelay(() => (times++ === 1 && framed ? refusing.port : port(other.url)));
        await using agent = new AgentProgram({
          bootstrap: bootstrapOf(
            { url: other.agentsAt(name, hub).url.replace(/:\d+/, `:${way.port}`), ca: authority?.ca },
            await hub.token(name),
          ),
          cluster: kubeconfigOf(target, { token: "agents-own" }),
          hubs: 1,
        });
        await agent.said(/ connected /);
        await hub.until(name, isReady);
        const watching = [1, 2].map(() => hub.at(name).watch("/api/v1/pods?watch=true", { user: "alice" }));
        for (const watch of await Promise.all(watching)) await watch.next();
        agent.signal("SIGSTOP");
        for (const watch of await Promise.all(watching)) expect(await watch.rest().catch(() => "cut")).to.equal("cut");
        const begun = performance.now();
        agent.signal("SIGCONT");
        await agent.said(/ connected /, 2);
        expect(performance.now() - begun).to.be.below(SOON);
      });
});

/** Starts a server that answers everything with 400, as a proxy that forwards only WebSockets. */
async function startRefusing(
  authority: TestAuthority | undefined,
): Promise<AsyncDisposable & { readonly port: number }> {
  const server = authority === undefined ? createServer() : createTlsServer(authority.server);
  server.on("upgrade", (_, socket) => socket.end("HTTP/1.1 400 No\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
