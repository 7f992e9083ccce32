// Watches, upgrades and streams: counted separately, they take no seat from requests under way.
import {
  type Authenticator,
  type Authorizer,
  allow,
  createServer,
  defineVirtualWorkspace,
  staticTokens,
} from "@virtual-workspaces/framework";
import { authenticatedUser } from "@virtual-workspaces/framework/authn";
import type { RequestLimits } from "@virtual-workspaces/framework/server";
import type { Storage } from "@virtual-workspaces/framework/storage";
import { expect } from "chai";
import { testLog } from "../_setup/log.ts";
import { Gated, NOTES } from "../_support/gated.ts";
import { Note } from "../_support/note.ts";
import { Wire } from "../_support/wire.ts";

const WATCH_LINE = `GET /services/watched${NOTES}?watch=true`;
const WATCH = [WATCH_LINE] as const;
const TUNNEL = ["GET /services/raw/tunnel", "Connection: Upgrade", "Upgrade: test"] as const;
const TOO_MANY = "too many watches and other long-running requests are open; close some, or try again later";

async function expectTooMany(wire: Wire): Promise<void> {
  const answer = await wire.answer();
  expect(answer).to.have.property("status", 429);
  expect(answer?.headers).to.have.property("retry-after", "1");
  expect(JSON.parse(answer?.body ?? "")).to.include({ reason: "TooManyRequests", message: TOO_MANY });
  wire.socket.destroy();
}

/** Sends a request whose response begins at once and goes on, and reads its beginning. */
async function begun(gated: Gated, user: string, request: readonly string[]): Promise<Wire> {
  const [line = "", ...more] = request;
  const wire = await gated.ask(user, line, ...more);
  await wire.begun();
  return wire;
}

describe("long-running requests", () => {
  for (const [kind, request] of [
    ["watches", WATCH],
    ["watches with initial events", [`${WATCH_LINE}&sendInitialEvents=true&resourceVersionMatch=NotOlderThan`]],
    ["upgrades", TUNNEL],
  ] as const) {
    it(`do not count as under way once they have begun: ${kind}`, async () => {
      await using gated = await Gated.start({ limits: { inFlight: 1, queue: 0 } });
      const wires: Wire[] = [];
      for (let at = 0; at < 5; at++) {
        wires.push(await begun(gated, "a", request));
        await gated.counts({ inFlight: 0, longRunning: at + 1 });
      }
      for (const wire of wires) wire.socket.destroy();
      await gated.counts({ longRunning: 0 });
    });
  }

  it("leave all seats to others, even by the thousand", async () => {
    await using gated = await Gated.start({ limits: { inFlight: 2, queue: 0 } });
    const wires: Wire[] = [];
    for (let at = 0; at < 2000; at += 50) wires.push(...(await Promise.all(many(50, () => begun(gated, "a", WATCH)))));
    await gated.counts({ inFlight: 0, longRunning: 2000 });
    using get = await gated.ask("b", `GET /services/watched${NOTES}/first`);
    expect(await get.answer()).to.have.property("status", 200);
    for (const wire of wires) wire.socket.destroy();
    await gated.counts({ longRunning: 0 });
  }).timeout(20_000);

  for (const [whose, limits, others] of [
    ["of one user", { longRunning: 10, longRunningPerUser: 2 }, 200],
    ["of all", { longRunning: 2 }, 429],
  ] as const) {
    it(`${whose} are limited: 429 with Retry-After`, async () => {
      await using gated = await Gated.start({ limits });
      const watch = await begun(gated, "a", WATCH);
      using tunnel = await begun(gated, "a", TUNNEL);
      await gated.counts({ longRunning: 2 });
      await expectTooMany(await gated.ask("a", ...WATCH));
      await expectTooMany(await gated.ask("a", ...TUNNEL));
      using get = await gated.ask("a", `GET /services/watched${NOTES}/first`);
      expect(await get.answer()).to.have.property("status", 200);
      using other = await gated.ask("b", ...WATCH);
      await other.begun();
      expect((await other.read(12)).toString()).to.equal(`HTTP/1.1 ${others}`);
      other.socket.destroy();
      watch.socket.destroy();
      await gated.counts({ longRunning: 1 });
      using again = await begun(gated, "a", WATCH);
      expect((await again.read(12)).toString()).to.equal("HTTP/1.1 200");
      tunnel.socket.destroy();
    });
  }

  it("do not count when they are rejected", async () => {
    await using gated = await Gated.start({ limits: { longRunning: 1 } });
    for (let at = 0; at < 3; at++) {
      using wire = await gated.ask("a", `GET /services/watched/apis/test.dev/v1/unknown?watch=true`);
      expect(await wire.answer()).to.have.property("status", 404);
      await gated.counts({ longRunning: 0 });
    }
  });

  it("neither count nor run when their client has left before authentication", async () => {
    const asked: string[] = [];
    let reached = Promise.withResolvers<void>();
    let left = Promise.withResolvers<void>();
    /** Authenticates the user z only after their client has left. */
    const slow: Authenticator = {
      name: "slow",
      authenticate: ({ headers, socket }) =>
        headers.authorization === "Bearer z"
          ? new Promise((resolve) => {
              reached.resolve();
              socket.once("close", () => setImmediate(() => left.resolve(resolve(authenticatedUser({ name: "z" })))));
            })
          : undefined,
    };
    const authorize: Authorizer<unknown> = ({ user }) => {
      asked.push(user.name);
      return allow();
    };
    const raw = defineVirtualWorkspace({ name: "asked", path: "/", authorize, handle: (_req, res) => void res.end() });
    await using gated = await Gated.start({
      virtualWorkspaces: [raw],
      authentication: [slow, staticTokens({ a: { name: "a" } })],
      limits: { longRunning: 1 },
    });
    for (const request of [WATCH, ["DELETE /services/asked/x"]] as const) {
      const [line = "", ...more] = request;
      const wire = await gated.ask("z", line, ...more);
      await reached.promise;
      wire.socket.destroy();
      await left.promise;
      [reached, left] = [Promise.withResolvers(), Promise.withResolvers()];
    }
    await gated.counts({ longRunning: 0 });
    expect(asked).to.deep.equal([]);
    using watch = await begun(gated, "a", WATCH);
    expect((await watch.read(12)).toString()).to.equal("HTTP/1.1 200");
    watch.socket.destroy();
  });

  it("can be subresources, from when they declare it", async () => {
    await using server = await logs({ inFlight: 1, queue: 0, longRunningPerUser: 1 });
    using first = await server.ask();
    await first.begun();
    expect(server.stats()).to.include({ inFlight: 0, longRunning: 1 });
    await expectTooMany(await server.ask());
  });
});

const many = <T>(count: number, make: () => T): T[] => Array.from({ length: count }, make);

/** A server with a subresource that streams. */
async function logs(limits: RequestLimits) {
  const storage: Storage = {
    get: (_scope, { name }) => ({ apiVersion: "test.dev/v1", kind: "Note", metadata: { name }, spec: {} }),
  };
  const trace = {
    longRunning: true,
    connect: (_req: unknown, res: import("node:http").ServerResponse) => void res.write("x"),
  };
  const view = defineVirtualWorkspace({
    name: "logs",
    path: "/",
    authorize: () => allow(),
    resources: [Note.serve(storage as Storage<never>, { subresources: { trace } } as never)],
  });
  const server = createServer({
    virtualWorkspaces: [view],
    authentication: [staticTokens({ a: { name: "a" } })],
    log: testLog().log,
    closeTimeout: 100,
    limits,
  });
  const { port } = await server.listen({ port: 0 });
  const ask = async (): Promise<Wire> => {
    const wire = await Wire.open(port);
    wire.request(`GET /services/logs${NOTES}/a/trace HTTP/1.1`, "Host: x", "Authorization: Bearer a");
    return wire;
  };
  return { ask, stats: () => server.stats, [Symbol.asyncDispose]: () => server.close() };
}
