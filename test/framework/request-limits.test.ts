// Limits: an invalid one is rejected when the server is created, not when it applies.
import { setTimeout } from "node:timers/promises";
import { createServer } from "@virtual-workspaces/framework";
import type { RequestLimits } from "@virtual-workspaces/framework/server";
import { expect } from "chai";
import { computed } from "../_support/cpu.ts";
import { Gated, NOTES } from "../_support/gated.ts";
import { Wire } from "../_support/wire.ts";

const make = (limits: RequestLimits) => () => createServer({ virtualWorkspaces: [], authentication: [], limits });

describe("limits on requests", () => {
  for (const [limits, message] of [
    [{ inFlight: 0 }, "limits.inFlight must be a whole number from 1 on, or Infinity; it is 0"],
    [{ mutating: 2.5 }, "limits.mutating must be a whole number from 1 on, or Infinity; it is 2.5"],
    [{ queue: -1 }, "limits.queue must be a whole number from 0 on, or Infinity; it is -1"],
    [{ turn: Number.NaN }, "limits.turn must be a whole number from 1 on, or Infinity; it is NaN"],
    [{ perUser: 0 }, "invalid limits.perUser 0: use a share above 0 and at most 1"],
    [{ perVirtualWorkspace: 20 }, "invalid limits.perVirtualWorkspace 20: use a share above 0 and at most 1"],
    [{ inflight: 3 } as never, "unknown limit limits.inflight: use one of inFlight, mutating, perUser"],
  ] as const) {
    it(`are rejected when invalid: ${message}`, () => expect(make(limits)).to.throw(message));
  }

  for (const [options, message] of [
    [{ maxConnections: 0 }, "maxConnections must be a whole number from 1 on, or Infinity; it is 0"],
    [{ headersTimeout: -1 }, "headersTimeout must be a whole number from 1 on, or Infinity; it is -1"],
    [{ requestTimeout: 0 }, "requestTimeout must be a whole number from 1 on, or Infinity; it is 0"],
    [{ closeTimeout: Number.NaN }, "closeTimeout must be a whole number from 0 on, or Infinity; it is NaN"],
    [{ minWatchTimeout: 0.5 }, "minWatchTimeout must be a whole number from 1 on, or Infinity; it is 0.5"],
    [{ bookmarkEvery: 0 }, "bookmarkEvery must be a whole number from 1 on, or Infinity; it is 0"],
  ] as const) {
    it(`are rejected when invalid: ${message}`, () => {
      expect(() => createServer({ virtualWorkspaces: [], authentication: [], ...options })).to.throw(message);
    });
  }

  it("may be lifted", async () => {
    const names = [
      "inFlight",
      "mutating",
      "queue",
      "queuePerUser",
      "queueFor",
      "turn",
      "longRunning",
      "longRunningPerUser",
    ];
    const limits = Object.fromEntries(names.map((name) => [name, Number.POSITIVE_INFINITY]));
    await using gated = await Gated.start({ limits });
    const wires = await Promise.all(Array.from({ length: 500 }, (_, at) => gated.get("a", String(at))));
    await gated.counts({ inFlight: 500, queued: 0 });
    gated.open();
    for (const wire of wires) {
      expect(await wire.answer()).to.have.property("status", 200);
      wire.socket.destroy();
    }
  });
});

describe("times", () => {
  for (const time of [Number.POSITIVE_INFINITY, 2 ** 31])
    it(`may be ${time} ms, which Node's timers turn into 1`, async () => {
      const times = { requestTimeout: time, closeTimeout: time, minWatchTimeout: time, bookmarkEvery: time };
      await using gated = await Gated.start(times);
      using watch = await gated.ask("a", `GET /services/watched${NOTES}?watch=true&allowWatchBookmarks=true`);
      using slow = await gated.get("a", "x");
      await gated.has(1);
      await setTimeout(30);
      const closing = gated.server.close();
      await setTimeout(30);
      gated.open();
      expect(await slow.answer()).to.have.property("status", 200);
      const { body = "" } = (await watch.answer()) ?? {};
      // A bookmark at the beginning, and one at the end.
      const types = [...body.matchAll(/"type":"(\w+)"/g)].map(([, type]) => type);
      expect(types).to.deep.equal(["ADDED", "BOOKMARK", "BOOKMARK"]);
      await closing;
    });
});

describe("connections", () => {
  it("are limited in number", async () => {
    await using gated = await Gated.start({ maxConnections: 2 });
    using first = await gated.get("a", "1");
    using _second = await gated.get("a", "2");
    await gated.has(2);
    using third = await Wire.open(gated.port);
    expect(await third.end()).to.not.equal(undefined);
    gated.open();
    expect(await first.answer()).to.have.property("status", 200);
  });

  it("are closed with 408 when their request arrives slowly", async () => {
    await using gated = await Gated.start({ headersTimeout: 100 });
    using silent = await Wire.open(gated.port, { patience: 9000 });
    using trickling = await Wire.open(gated.port, { patience: 9000 });
    trickling.send("GET /livez HTTP/1.1\r\n");
    const more = setInterval(() => trickling.send("X: y\r\n"), 20);
    try {
      for (const wire of [silent, trickling]) expect(await wire.answer()).to.have.property("status", 408);
    } finally {
      clearInterval(more);
    }
  }).timeout(30_000);

  it("accept a number of requests before the first response, then answer 429", async () => {
    await using gated = await Gated.start({ limits: { inFlight: 1, queuePerUser: 5000 } });
    using wire = await gated.get("a", "0");
    const request = "GET /livez HTTP/1.1\r\nHost: x\r\n\r\n";
    wire.send(request.repeat(300));
    await gated.has(1);
    gated.open();
    const codes: number[] = [];
    for (let answer = await wire.answer(); answer !== undefined; answer = await wire.answer())
      codes.push(answer.status);
    expect(codes.length).to.be.equal(101);
    expect(codes.pop()).to.equal(429);
    expect(new Set(codes)).to.deep.equal(new Set([200]));
  });
});

describe("a query", () => {
  const ask = async (gated: Gated, path: string, parameters: number) => {
    using wire = await gated.ask("a", `GET ${path}?${"a&".repeat(parameters - 1)}a`);
    return await wire.answer();
  };

  for (const path of ["/livez", "/readyz", `/services/watched${NOTES}`, "/services/unknown"]) {
    it(`with too many parameters is rejected before it is parsed: ${path}`, async () => {
      await using gated = await Gated.start();
      const began = computed();
      const refused = await ask(gated, path, 500_000);
      expect(computed() - began).to.be.below(500);
      expect(refused).to.have.property("status", 400);
      expect(JSON.parse(refused?.body ?? "")).to.include({
        message: "the query has more than 1000 parameters: send fewer",
      });
      expect((await ask(gated, path, 1001))?.status).to.equal(400);
      expect((await ask(gated, path, 1000))?.status).to.be.oneOf([200, 404]);
    });
  }
});
