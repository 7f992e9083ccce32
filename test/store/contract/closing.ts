import { isStoreError } from "@virtual-workspaces/store";
import { expect } from "chai";
import { type Engine, everything, put, refused, Subject, under } from "./subject.ts";

export function describeClosing(engine: Engine): void {
  describe("close", () => {
    const subject = Subject.for(engine);

    it("rejects every later call, and is idempotent", async () => {
      const { store } = subject;
      await subject.put("a", "1");
      const lease = await store.grant(60);
      await store[Symbol.asyncDispose]();
      await store[Symbol.asyncDispose]();
      await refused("Closed", () => store.head());
      await refused("Closed", () => store.get("a"));
      await refused("Closed", () => store.range(everything));
      await refused("Closed", () => store.commit({ conditions: [], operations: [put("a", "2")] }));
      await refused("Closed", () => store.compact(1));
      await refused("Closed", () => store.grant(60));
      await refused("Closed", () => store.renew(lease));
      await refused("Closed", () => store.revoke(lease));
      await refused("Closed", () => store.remaining(lease.id));
      const watch = store.watch(everything, { after: 1 });
      await refused("Closed", () => watch[Symbol.asyncIterator]().next());
    });

    it("ends watches, read or not", async () => {
      const base = await subject.put("a", "1");
      const waiting = await subject.watch(under("x"));
      const lying = await subject.watch(everything, { after: base - 1 });
      await lying.next();
      const end = waiting.rest();
      await subject.store[Symbol.asyncDispose]();
      expect(await end).to.deep.equal([]);
      expect(await lying.read()).to.equal(undefined);
    });

    it("leaves no transaction pending", async () => {
      const calls = Array.from({ length: 100 }, (_, index) => subject.put(`k${index}`, "1"));
      const settled = Promise.allSettled(calls);
      await subject.store[Symbol.asyncDispose]();
      for (const result of await settled)
        if (result.status === "rejected") {
          if (!isStoreError(result.reason)) throw result.reason;
          expect(result.reason.code).to.be.oneOf(["Closed", "Unknown", "Unavailable"]);
        }
    });
  });
}
