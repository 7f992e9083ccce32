// Bookmarks keep the version of a quiet informer recent, so that it resumes instead of relisting.
import { expect } from "chai";
import { building } from "./support/build.ts";
import { Stage } from "./support/stage.ts";

describe("bookmarks", function () {
  this.timeout(60_000);
  before(building("clients"));

  for (const [command, kind] of [
    ["informer", "Quote"],
    ["typed-informer", "Quote"],
    ["metadata-informer", "PartialObjectMetadata"],
  ] as const) {
    it(`${command}: arrive as ${kind}, and advance the version past unselected changes`, async () => {
      await using stage = await Stage.start({ bookmarkEvery: 20 });
      await using client = stage.client(command, { labels: "team=red" });
      await client.event("synced");
      const unseen = stage.root.set("blue", { text: "not for this one" }, { labels: { team: "blue" } });
      const { resourceVersion } = unseen.metadata;
      const bookmark = await client.event("bookmark", (told) => told["resourceVersion"] === resourceVersion);
      expect([bookmark["kind"], bookmark["initialEventsEnd"]]).to.deep.equal([kind, false]);
      // The wire sees a bookmark before the informer has processed it.
      await client.reaches(resourceVersion ?? "");
      expect(client.noise()).to.deep.equal([]);
      await client.end();
    });
  }

  it("let an informer resume past more changes than the history keeps", async () => {
    await using stage = await Stage.start({ wire: true, bookmarkEvery: 20, history: { events: 8 } });
    await using client = stage.client("informer", { labels: "team=red" });
    await client.event("synced");
    for (let at = 0; at < 100; at++) stage.root.set("blue", { text: `${at}` }, { labels: { team: "blue" } });
    const head = stage.versions.get("blue");
    await client.event("bookmark", ({ resourceVersion }) => resourceVersion === head);
    stage.wire.cut();
    const red = stage.root.set("red", { text: "while away" }, { labels: { team: "red" } });
    await client.holds(new Map([["red", red.metadata.resourceVersion ?? ""]]), 30_000);
    const resumed = client.all("request").filter(({ verb }) => verb === "watch");
    expect(resumed.at(-1)?.["resourceVersion"]).to.equal(head);
    expect(client.verbs().filter((verb) => verb === "watchlist")).to.have.length(1);
    expect(client.all("watch-error")).to.deep.equal([]);
    await client.end();
  });

  it("end the initial events exactly once", async () => {
    await using stage = await Stage.start({ bookmarkEvery: 20 });
    stage.fill(3);
    await using client = stage.client("informer");
    await client.event("synced");
    await client.until("further bookmarks", () => client.all("bookmark").length > 3);
    const ends = client.all("bookmark").map(({ initialEventsEnd }) => initialEventsEnd);
    expect(ends.indexOf(true)).to.equal(0);
    expect(ends.lastIndexOf(true)).to.equal(0);
    await client.end();
  });
});
