// Tests of the controller with jest, which runs the compiled JavaScript of the other files as ECMAScript modules:
// `tsc && NODE_OPTIONS=--experimental-vm-modules jest jest.test.mjs`.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import { startTestServer } from "@virtual-workspaces/testing";
import { configOf, greeted } from "./out/greeted.js";
import { startGreeter } from "./out/greeter.js";

describe("the greeter", () => {
  let server;
  let stop;

  beforeAll(async () => {
    const crds = new URL("greetings.yaml", import.meta.url);
    server = await startTestServer({ crds, users: { greeter: { groups: ["system:masters"] } } });
  }, 30_000);
  afterAll(() => server.close());

  beforeEach(async () => {
    await server.reset();
    stop = await startGreeter(configOf(server, "greeter"));
  });
  afterEach(() => stop());

  it("writes a text into the status", async () => {
    expect(await greeted(server, "Ann")).toBe("Hello, Ann!");
  });

  it("reads the object again after a conflict", async () => {
    server.faults.add({ verb: "update", resource: "greetings/status", fault: "conflict" });
    expect(await greeted(server, "Bob")).toBe("Hello, Bob!");
    server.faults.assertUsed();
  });

  it("writes once", async () => {
    await greeted(server, "Eve");
    const writes = server.requests.list({ user: "greeter", verb: "update" });
    expect(writes.map(({ resource, name, code }) => [resource, name, code])).toEqual([
      ["greetings/status", "first", 200],
    ]);
  });
});
