// Tests of the controller with node:test: `node --test node.test.ts`.
import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach, describe, it } from "node:test";
import { startTestServer, type TestServer } from "@virtual-workspaces/testing";
import { configOf, greeted } from "./greeted.ts";
import { startGreeter } from "./greeter.ts";

describe("the greeter", () => {
  let server: TestServer;
  let stop: () => Promise<void>;

  before(async () => {
    const crds = new URL("greetings.yaml", import.meta.url);
    server = await startTestServer({ crds, users: { greeter: { groups: ["system:masters"] } } });
  });
  after(() => server.close());

  beforeEach(async () => {
    await server.reset();
    stop = await startGreeter(configOf(server, "greeter"));
  });
  afterEach(() => stop());

  it("writes a text into the status", async () => {
    assert.equal(await greeted(server, "Ann"), "Hello, Ann!");
  });

  it("reads the object again after a conflict", async () => {
    server.faults.add({ verb: "update", resource: "greetings/status", fault: "conflict" });
    assert.equal(await greeted(server, "Bob"), "Hello, Bob!");
    server.faults.assertUsed();
  });

  it("writes once", async () => {
    await greeted(server, "Eve");
    assert.deepEqual(
      server.requests
        .list({ user: "greeter", verb: "update" })
        .map(({ resource, name, code }) => [resource, name, code]),
      [["greetings/status", "first", 200]],
    );
  });
});
