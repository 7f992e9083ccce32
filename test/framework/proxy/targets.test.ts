// Cache of targets by key: one each, closed when it is outdated or unused.
import { Targets, type TargetsOptions } from "@virtual-workspaces/framework/proxy";
import { expect } from "chai";

class Target implements AsyncDisposable {
  readonly closed = Promise.withResolvers<void>();
  isClosed = false;
  active = false;

  async [Symbol.asyncDispose](): Promise<void> {
    this.isClosed = true;
    this.closed.resolve();
  }
}

const targets = (options: Omit<TargetsOptions<Target>, "isActive"> = {}): Targets<Target> =>
  new Targets({ isActive: ({ active }) => active, ...options });
const make = (): Target => new Target();

describe("Targets", () => {
  it("has one per key and version, and a new version closes the old one at once, active or not", async () => {
    await using kept = targets();
    const first = kept.of("a", "1", make);
    first.active = true;
    expect(kept.of("a", "1", make)).to.equal(first);
    const second = kept.of("a", "2", make);
    expect([second === first, first.isClosed, second.isClosed, kept.size]).to.deep.equal([false, true, false, 1]);
    kept.delete("a", "2");
    expect([second.isClosed, kept.size]).to.deep.equal([false, 1]);
    kept.delete("a", "1");
    expect([second.isClosed, kept.size]).to.deep.equal([true, 0]);
    const third = kept.of("a", "3", make);
    kept.delete("a");
    expect([third.isClosed, kept.size]).to.deep.equal([true, 0]);
  });

  it("drops the old target when the new one cannot be made", async () => {
    await using kept = targets();
    const first = kept.of("a", "1", make);
    const fails = (): Target => {
      throw new Error("no certificate");
    };
    expect(() => kept.of("a", "2", fails)).to.throw("no certificate");
    expect([first.isClosed, kept.size]).to.deep.equal([true, 0]);
  });

  it("evicts the least recently used, and none with requests under way", async () => {
    await using kept = targets({ most: 2 });
    const [a, b] = [kept.of("a", "", make), kept.of("b", "", make)];
    a.active = true;
    const c = kept.of("c", "", make);
    expect([a, b, c].map(({ isClosed }) => isClosed)).to.deep.equal([false, true, false]);
    c.active = true;
    const d = kept.of("d", "", make);
    expect([a.isClosed, c.isClosed, d.isClosed, kept.size]).to.deep.equal([false, false, false, 3]);
  });

  it("closes unused targets after a while, and all at the end", async () => {
    await using kept = targets({ idleFor: 10 });
    const [idle, active] = [kept.of("idle", "", make), kept.of("active", "", make)];
    active.active = true;
    await idle.closed.promise;
    expect([active.isClosed, kept.size]).to.deep.equal([false, 1]);
    await kept[Symbol.asyncDispose]();
    expect(active.isClosed).to.equal(true);
    expect(() => kept.of("a", "", make)).to.throw("targets are closed");
  });

  it("rejects invalid options", () => {
    expect(() => targets({ most: 0 })).to.throw("most of targets");
    expect(() => targets({ idleFor: 0 })).to.throw("idleFor of targets");
  });
});
