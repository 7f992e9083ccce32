// Waits for a signal, and for work that does not observe one.
import { setImmediate as nextTurn } from "node:timers/promises";
import { aborted, onAbort, untilAborted } from "@virtual-workspaces/transport";
import { expect } from "chai";
import { thrown } from "../../_support/raw.ts";

describe("onAbort and untilAborted", () => {
  it("calls back once, at once after an abort, and not after disposal", () => {
    const stop = new AbortController();
    const called: string[] = [];
    onAbort(stop.signal, () => called.push("waits"));
    onAbort(stop.signal, () => called.push("left"))[Symbol.dispose]();
    expect(called).to.deep.equal([]);
    stop.abort();
    onAbort(stop.signal, () => called.push("comes late"));
    onAbort(undefined, () => called.push("has no signal"))[Symbol.dispose]();
    expect(called).to.deep.equal(["waits", "comes late"]);
  });

  it("resolves a wait, also after an abort", async () => {
    const stop = new AbortController();
    const waiting = aborted(stop.signal);
    stop.abort();
    await waiting;
    await aborted(stop.signal);
  });

  it("ends the wait for work that continues, whose failure is ignored", async () => {
    const stop = new AbortController();
    const work = Promise.withResolvers<number>();
    const ended = untilAborted(work.promise, stop.signal);
    const reason = new Error("enough");
    stop.abort(reason);
    expect(await thrown(ended)).to.equal(reason);
    expect(await thrown(untilAborted(Promise.resolve(1), stop.signal))).to.equal(reason);
    work.reject(new Error("too late"));
    await nextTurn();
  });

  it("does not affect work that ends before", async () => {
    const { signal } = new AbortController();
    const failure = new Error("failed");
    expect(await untilAborted(Promise.resolve(1), signal)).to.equal(1);
    expect(await untilAborted(Promise.resolve(1), undefined)).to.equal(1);
    expect(await thrown(untilAborted(Promise.reject(failure), signal))).to.equal(failure);
  });
});
