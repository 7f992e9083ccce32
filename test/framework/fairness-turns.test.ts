// Work that never waits: requests share the event loop, and the time they took is known afterwards.
import { allow, createServer, defineVirtualWorkspace, staticTokens } from "@virtual-workspaces/framework";
import type { RequestLimits } from "@virtual-workspaces/framework/server";
import type { Storage } from "@virtual-workspaces/framework/storage";
import { expect } from "chai";
import { testLog } from "../_setup/log.ts";
import { Note } from "../_support/note.ts";
import { Wire } from "../_support/wire.ts";

const NOTES = "/services/busy/apis/test.dev/v1/notes";

/** A storage that computes for as many milliseconds as the object's name states. */
async function start(limits: RequestLimits = {}) {
  const served: string[] = [];
  const storage: Storage = {
    get: ({ identity }, { name }) => {
      served.push(identity.name);
      for (const until = performance.now() + Number(name); performance.now() < until; );
      return { apiVersion: "test.dev/v1", kind: "Note", metadata: { name }, spec: {} };
    },
  };
  const view = defineVirtualWorkspace({
    name: "busy",
    path: "/",
    authorize: () => allow(),
    resources: [Note.serve(storage as Storage<never>)],
  });
  const server = createServer({
    virtualWorkspaces: [view],
    authentication: [staticTokens({ a: { name: "a" }, b: { name: "b" } })],
    log: testLog().log,
    limits,
  });
  const { port } = await server.listen({ port: 0 });
  /**
   * Sends all requests at once, each on its own connection, and waits for the responses.
   * @returns the users in order of service
   */
  const serve = async (...requests: readonly (readonly [user: string, cost: number])[]): Promise<string> => {
    const wires = await Promise.all(requests.map(() => accepted(port)));
    for (const [at, [user, cost]] of requests.entries())
      wires[at]?.request(`GET ${NOTES}/${cost} HTTP/1.1`, "Host: x", `Authorization: Bearer ${user}`);
    for (const wire of wires) {
      expect(await wire.answer()).to.have.property("status", 200);
      wire.socket.destroy();
    }
    return served.splice(0).join("");
  };
  return { serve, [Symbol.asyncDispose]: () => server.close() };
}

/** A connection that the server has accepted: it accepts one per turn. */
async function accepted(port: number): Promise<Wire> {
  const wire = await Wire.open(port);
  wire.request("GET /livez HTTP/1.1", "Host: x");
  await wire.answer();
  return wire;
}

const times = (count: number, user: string, cost: number) => Array.from({ length: count }, () => [user, cost] as const);

describe("a burst that arrives in one turn of the event loop", () => {
  it("delays another user by one slice only", async () => {
    await using server = await start();
    const order = await server.serve(...times(30, "a", 4), ["b", 0]);
    expect(order).to.have.length(31);
    expect(order.indexOf("b"), order).to.be.below(6);
  });

  it("delays another user by the whole burst when the turn is unlimited", async () => {
    await using server = await start({ turn: Number.POSITIVE_INFINITY });
    const order = await server.serve(...times(30, "a", 4), ["b", 0]);
    expect(order.indexOf("b"), order).to.be.above(20);
  });

  it("is served whole when queueing is off", async () => {
    await using server = await start({ queue: 0 });
    expect(await server.serve(...times(30, "a", 4))).to.have.length(30);
  });

  it("is shared by time, not by number of requests", async () => {
    await using server = await start();
    const order = await server.serve(...times(10, "a", 20), ...times(20, "b", 1));
    // 20 ms of b stand beside 200 ms of a: b is done before a has had a few turns.
    expect(order.lastIndexOf("b"), order).to.be.below(20 + 5);
  });
});
