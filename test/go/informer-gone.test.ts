// Informers whose watch cannot continue: they get 410, relist, and are then exactly right.
import { expect } from "chai";
import { building } from "./support/build.ts";
import { Stage } from "./support/stage.ts";
import { Quote, quotesView } from "./support/views.ts";

const HISTORY = { events: 8 };

describe("informers after a 410", function () {
  this.timeout(60_000);
  before(building("clients"));

  for (const command of ["informer", "typed-informer", "metadata-informer"] as const) {
    it(`${command}: relists when more happens during a disconnection than the history keeps`, async () => {
      await using stage = await Stage.start({ wire: true, history: HISTORY });
      stage.fill(50);
      await using client = stage.client(command);
      await client.event("synced");
      await stage.touch(client);
      stage.wire.cut();
      stage.fill(10, "new");
      for (let round = 0; round < 7; round++) stage.root.set("quote-0007", { text: `changed ${round}` });
      for (let at = 10; at < 50; at++) stage.root.delete(`quote-00${at}`);
      stage.root.set("quote-0010", { text: "back as another" });
      await client.holds(stage.versions, 30_000);
      const refused = await client.event("watch-error");
      expect([refused["code"], refused["reason"]]).to.deep.equal([410, "Expired"]);
      expect(client.verbs().filter((verb) => verb === "watchlist")).to.have.length(2);
      expect(client.all("deleted")).to.have.length(39);
      expect(client.all("deleted").every(({ unseen }) => unseen === true)).to.equal(true);
      const { objects } = await client.state();
      expect(Object.keys(objects)).to.have.members([...stage.versions.keys()]);
      stage.root.set("after", { text: "all of that" });
      await client.holds(stage.versions);
      await client.end();
    });
  }

  it("resume without a relist when less happens during a disconnection", async () => {
    await using stage = await Stage.start({ wire: true, history: HISTORY });
    stage.fill(50);
    await using client = stage.client("informer");
    await client.event("synced");
    await stage.touch(client);
    stage.wire.cut();
    stage.fill(4, "new");
    for (let at = 0; at < 4; at++) stage.root.delete(`quote-000${at}`);
    await client.holds(stage.versions, 30_000);
    expect(client.all("watch-error")).to.deep.equal([]);
    expect(client.verbs().filter((verb) => verb === "watchlist")).to.have.length(1);
    expect(client.all("deleted").map(({ unseen }) => unseen)).to.deep.equal([false, false, false, false]);
    await client.end();
  });

  it("get 410 when they are too slow and the history has moved on", async () => {
    await using stage = await Stage.start({ wire: true, history: HISTORY });
    stage.fill(3);
    await using client = stage.client("informer");
    await client.event("synced");
    const held = stage.wire.hold(1);
    stage.root.set("quote-0000", { text: "the wire carries nothing after this" });
    await held;
    const text = "long ".repeat(2000);
    for (let at = 0; at < 2000; at++) {
      stage.root.set(`quote-${at % 100}`, { text: `${at} ${text}` });
      await new Promise(setImmediate);
    }
    stage.root.delete("quote-0001");
    stage.wire.release();
    expect((await client.event("watch-error", undefined, 20_000))["code"]).to.equal(410);
    await client.holds(stage.versions, 30_000);
    expect(client.objects.has("quote-0001")).to.equal(false);
    await client.end();
  });

  it("lose their watches within a second when a resource vanishes from discovery, and return with it", async () => {
    let served = true;
    await using stage = await Stage.start({
      view: (quotes) => {
        const all = [Quote.serve(quotes)];
        return quotesView(() => (served ? all : []));
      },
    });
    stage.fill(3);
    await using client = stage.client("informer");
    await client.event("synced");
    const vanished = performance.now();
    served = false;
    const told = await client.event("watch-error");
    expect([told["code"], told["reason"]]).to.deep.equal([410, "Expired"]);
    expect(told.at - vanished).to.be.below(1000);
    await client.event("request", ({ code }) => code === 404, 20_000);
    stage.root.set("meanwhile", { text: "nobody sees this" });
    stage.root.delete("quote-0001");
    served = true;
    await client.holds(stage.versions, 30_000);
    await client.end();
  });
});
