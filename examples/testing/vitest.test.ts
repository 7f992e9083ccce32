// Tests of the controller with vitest: `vitest run vitest.test.ts`.
import { startTestServer, type TestServer } from "@virtual-workspaces/testing";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { configOf, greeted } from "./greeted.ts";
import { startGreeter } from "./greeter.ts";

describe("the greeter", () => {
  let server: TestServer;
  let stop: () => Promise<void>;

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
