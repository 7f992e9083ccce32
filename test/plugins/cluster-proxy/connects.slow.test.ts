// Ten thousand tunnels of one agent, one after another, ended in each possible way: nothing is left of them.
import { once } from "node:events";
import { request } from "node:http";
import type { Socket } from "node:net";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { AgentEnd } from "@virtual-workspaces/cluster-proxy";
import { expect } from "chai";
import { startTarget, type Target } from "../mounts/support/mounted.ts";
import { apiOf, TestHub } from "./support/hub.ts";
import { newProof } from "./support/proof.ts";

const ALL = 10_000;
const AT_ONCE = 16;

setFlagsFromString("--expose-gc");
const gc = runInNewContext("gc") as () => void;

describe("hub", function () {
  this.timeout(300_000);
  let hub: TestHub;
  let target: Target;

  before(async () => {
    hub = await TestHub.start();
    target = await startTarget();
  });
  after(async () => {
    await hub?.[Symbol.asyncDispose]();
    await target?.[Symbol.asyncDispose]();
  });

  it("keeps nothing of ten thousand ended tunnels", async () => {
    await hub.make("often");
    const agent = await hub.agent("often", { api: apiOf(target) });
    const { epoch } = await agent.seen("connected");
    const [pair] = agent.kept;
    if (pair === undefined) throw new Error("no certificate was kept");
    await agent[Symbol.asyncDispose]();

    /** Dials as an agent does. */
    async function dialled(): Promise<Socket> {
      const req = request(`${hub.agentsAt("often").url}/tunnel`, {
        agent: false,
        headers: {
          authorization: `Bearer ${newProof(pair as NonNullable<typeof pair>, new Date())}`,
          connection: "Upgrade",
          upgrade: "virtual-workspaces-tunnel.v1",
          "x-virtual-workspaces-epoch": String(epoch),
        },
      }).end();
      const [, socket] = (await once(req, "upgrade")) as [unknown, Socket];
      return socket.on("error", () => undefined);
    }
    const ways: readonly ((socket: Socket) => Promise<unknown>)[] = [
      async (socket) => socket.destroy(),
      async (socket) => socket.resetAndDestroy(),
      async (socket) => socket.end(),
      async (socket) => new AgentEnd(socket, { targets: () => undefined })[Symbol.asyncDispose](),
      async (socket) => new AgentEnd(socket, { targets: () => undefined }).drain(),
    ];
    let left = ALL;
    const worker = async (): Promise<void> => {
      for (let at = left--; at > 0; at = left--) {
        const socket = await dialled();
        const closed = socket.destroyed ? undefined : once(socket, "close");
        await ways[at % ways.length]?.(socket);
        await closed;
      }
    };
    const work = async (until: number): Promise<void> => {
      left = until;
      await Promise.all(Array.from({ length: AT_ONCE }, worker));
    };
    const heap = async (): Promise<number> => {
      await hub.until("often", () => true);
      hub.errors.length = 0; // The test stores what the hub would log.
      for (let round = 0; round < 3; round++) {
        gc();
        await new Promise((resolve) => setImmediate(resolve));
      }
      return process.memoryUsage().heapUsed;
    };
    const metric = async (name: string): Promise<number> => {
      const { text } = await hub.server.get("/metrics", { user: "root" });
      return Number(new RegExp(`^${name} (\\d+)$`, "m").exec(text)?.[1]);
    };
    await work(ALL / 2);
    const before = await heap();
    await work(ALL / 2);
    while ((await metric("clusterproxy_tunnels")) > 0);
    expect(await metric("clusterproxy_tunnels_opened_total")).to.equal(ALL + 1);
    expect(await metric("clusterproxy_tunnel_streams")).to.equal(0);
    const more = (await heap()) - before;
    expect(more / (ALL / 2), "bytes for each").to.be.below(500);
  });
});
