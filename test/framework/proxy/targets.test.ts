// Other servers that are kept by what leads to them: one for each, closed when it is not meant any more, or not asked for.
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

describe("targets", () => {
  it("are one for a key and version, and another one closes what was there at once, active or not", async () => {
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

  it("that cannot be made leave nothing of what was there", async () => {
    await using kept = targets();
    const first = kept.of("a", "1", make);
    const fails = (): Target => {
      throw new Error("no certificate");
    };
    expect(() => kept.of("a", "2", fails)).to.throw("no certificate");
    expect([first.isClosed, kept.size]).to.deep.equal([true, 0]);
  });

  it("of too many, those go that nobody has asked for longest, and none at which something is under way", async () => {
    await using kept = targets({ most: 2 });
    const [a, b] = [kept.of("a", "", make), kept.of("b", "", make)];
    a.active = true;
    const c = kept.of("c", "", make);
    expect([a, b, c].map(({ isClosed }) => isClosed)).to.deep.equal([false, true, false]);
    c.active = true;
    const d = kept.of("d", "", make);
    expect([a.isClosed, c.isClosed, d.isClosed, kept.size]).to.deep.equal([false, false, false, 3]);
  });

  it("that nobody asks for are closed after a while, and all at the end", async () => {
    await using kept = targets({ idleFor: 10 });
    const [idle, active] = [kept.of("idle", "", make), kept.of("active", "", make)];
    active.active = true;
    await idle.closed.promise;
    expect([active.isClosed, kept.size]).to.deep.equal([false, 1]);
    await kept[Symbol.asyncDispose]();
    expect(active.isClosed).to.equal(true);
    expect(() => kept.of("a", "", make)).to.throw("were closed");
  });

  it("say what cannot be", () => {
    expect(() => targets({ most: 0 })).to.throw("most of targets");
    expect(() => targets({ idleFor: 0 })).to.throw("idleFor of targets");
  });
});
