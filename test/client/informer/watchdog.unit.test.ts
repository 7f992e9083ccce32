// Deadlines of an informer's attempts. A process warning fails the test.
import { once } from "node:events";
import { expect } from "chai";
import { Watchdog } from "../../../packages/client/src/informer/connection.ts";

describe("an attempt of an informer", () => {
  it("ends without a process warning if its deadline has passed already", async () => {
    using dog = new Watchdog(new AbortController().signal);
    const ended = once(dog.signal, "abort");
    dog.expect(-0.13, () => new Error("late"));
    await ended;
    expect(dog.signal.reason.message).to.equal("late");
  });
});
