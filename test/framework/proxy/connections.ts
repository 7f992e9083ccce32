// Connections to the upstream: queueing, and the fate of kept-alive ones.
import { expect } from "chai";
import { until } from "../../_support/until.ts";
import { asAlice, type Bed, bed, type EngineName } from "./bed.ts";
import type { Row } from "./rows.ts";

/** Closes the connection of the second request, a kept-alive one, without a response. */
async function stale(engine: EngineName): Promise<Bed> {
  let count = 0;
  return bed(engine, {
    answer: (req, res) => {
      count += 1;
      if (count === 2) req.socket.destroy();
      else res.end("ok");
    },
  });
}

export const CONNECTIONS: readonly Row[] = [
  {
    what: "does not count open watches against the connections of short requests",
    does: async (engine) => {
      const answer: Parameters<typeof bed>[1]["answer"] = (req, res) => {
        if (req.url?.includes("watch") === true) res.writeHead(200).flushHeaders();
        else res.end("ok");
      };
      await using here = await bed(engine, { answer }, { connections: 1 });
      for (let open = 0; open < 5; open++) {
        const wire = await here.wire();
        wire.request(...asAlice("GET /apis/b/v1/c?watch=1"));
        await wire.begun();
      }
      expect((await here.get("/services/archive/x")).text).to.equal("ok");
    },
  },
  {
    what: "queues short requests that exceed the number of connections",
    does: async (engine) => {
      const first = Promise.withResolvers<() => void>();
      const answer: Parameters<typeof bed>[1]["answer"] = (req, res) => {
        if (req.url?.endsWith("/1") === true) first.resolve(() => res.end("1"));
        else res.end("2");
      };
      await using here = await bed(engine, { answer }, { connections: 1 });
      const one = here.get("/services/archive/1");
      const release = await first.promise;
      const two = here.get("/services/archive/2");
      await until(() => here.server.stats.inFlight >= 2);
      expect(here.asked).to.have.length(1);
      release();
      expect([(await one).text, (await two).text]).to.deep.equal(["1", "2"]);
      const ports = new Set(here.asked.map(({ socket }) => socket.remotePort));
      expect(ports.size).to.equal(1); // it was reused
    },
  },
  {
    what: "retries a GET once on a kept-alive connection that the upstream has closed",
    does: async (engine) => {
      await using here = await stale(engine);
      await here.get("/services/archive/x");
      expect((await here.get("/services/archive/x")).text).to.equal("ok");
      expect(here.asked).to.have.length(3);
    },
    instead: {
      "http-proxy": async () => {
        await using here = await stale("http-proxy");
        await here.get("/services/archive/x");
        expect((await here.get("/services/archive/x")).status).to.equal(503);
        expect(here.asked).to.have.length(2);
      },
    },
  },
];
