// How long an attempt of an informer may take. What the process warns of fails a test.
import { once } from "node:events";
import { expect } from "chai";
import { Watchdog } from "../../../packages/client/src/informer/connection.ts";

describe("an attempt of an informer", () => {
  it("ends whose time is over already, and the process warns of nothing", async () => {
    using dog = new Watchdog(new AbortController().signal);
    const ended = once(dog.signal, "abort");
    dog.expect(-0.13, () => new Error("late"));
    await ended;
    expect(dog.signal.reason.message).to.equal("late");
  });
});
