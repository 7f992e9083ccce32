// Clients that read without a cache: the pager, the watcher that resumes by itself, and tables.
import { expect } from "chai";
import { building } from "./support/build.ts";
import { Stage } from "./support/stage.ts";

describe("the pager", function () {
  this.timeout(60_000);
  before(building("clients"));

  it("reads one state in pages despite changes", async () => {
    await using stage = await Stage.start();
    stage.fill(25);
    const then = stage.versions;
    await using client = stage.client("list", { limit: "10", pause: "true" });
    const first = await client.event("page");
    expect([first["count"], first["remaining"]]).to.deep.equal([10, 15]);
    stage.root.delete("quote-0015");
    stage.root.set("quote-0020", { text: "changed" });
    stage.root.set("quote-0010a", { text: "added" });
    client.say("next");
    await client.until("second page", () => client.all("page").length === 2);
    stage.root.delete("quote-0024");
    client.say("next");
    const listed = await client.event("listed");
    expect(listed["keys"]).to.deep.equal([...then.keys()]);
    expect(listed["versions"]).to.deep.equal([...then.values()]);
    expect(listed["paginated"]).to.equal(true);
    expect(client.all("page").map(({ count }) => count)).to.deep.equal([10, 10, 5]);
    expect(new Set(client.all("page").map(({ resourceVersion }) => resourceVersion)).size).to.equal(1);
    await client.end();
  });

  it("starts over with a full list when its continue token has expired", async () => {
    await using stage = await Stage.start({ history: { events: 8 } });
    stage.fill(25);
    await using client = stage.client("list", { limit: "10", pause: "true" });
    await client.event("page");
    for (let at = 0; at < 10; at++) stage.root.delete(`quote-00${at + 10}`);
    client.say("next");
    const listed = await client.event("listed");
    expect(listed["keys"]).to.deep.equal([...stage.versions.keys()]);
    expect(client.all("request").map(({ code }) => code)).to.deep.equal([200, 410, 200]);
    await client.end();
  });
});

describe("the watcher that resumes by itself", function () {
  this.timeout(60_000);
  before(building("clients"));

  it("continues through disconnections and restarts without a gap or a repetition", async () => {
    await using stage = await Stage.start({ wire: true });
    stage.fill(3);
    await using client = stage.client("watch");
    await client.event("request", ({ verb }) => verb === "watch");
    const expected: string[] = [];
    for (let round = 0; round < 3; round++) {
      stage.root.set("quote-0001", { text: `${round}` });
      stage.root.set(`new-${round}`, { text: "n" });
      stage.root.delete(`new-${round}`);
      expected.push("MODIFIED quote-0001", `ADDED new-${round}`, `DELETED new-${round}`);
      if (round === 1) {
        await stage.stop();
        await stage.resume();
      }
      await client.until(`${expected.length} events`, () => client.all("watched").length === expected.length, 30_000);
      stage.wire.cut();
    }
    expect(client.all("watched").map(({ type, key }) => `${type} ${key}`)).to.deep.equal(expected);
    const versions = client.all("watched").map(({ resourceVersion }) => BigInt(resourceVersion));
    expect(versions).to.deep.equal([...versions].sort((a, b) => (a < b ? -1 : 1)));
    await client.end();
  });

  it("stops with 410 when the history does not reach back", async () => {
    await using stage = await Stage.start({ history: { events: 8 } });
    const first = stage.root.set("first", { text: "f" }).metadata.resourceVersion ?? "";
    stage.fill(20);
    await using client = stage.client("watch", { from: first });
    const ended = await client.event("ended");
    expect([ended["code"], ended["reason"]]).to.deep.equal([410, "Expired"]);
    expect(client.all("watched")).to.deep.equal([]);
    await client.end();
  });
});

describe("tables", function () {
  this.timeout(60_000);
  before(building("clients"));

  it("are listed and watched", async () => {
    await using stage = await Stage.start({ bookmarkEvery: 20 });
    stage.root.set("ssh", { text: "Edit is the new ssh.", author: "kubectl" }, { labels: { team: "red" } });
    stage.root.set("none", { text: "Nobody said this." });
    await using client = stage.client("table");
    const table = await client.event("table");
    expect(table["columns"]).to.deep.equal(["Name string name", "Text string ", "Author string ", "Age date "]);
    expect(table["names"]).to.deep.equal(["none", "ssh"]);
    expect(table["cells"].map((cells: unknown[]) => cells.slice(0, 3))).to.deep.equal([
      ["none", "Nobody said this.", null],
      ["ssh", "Edit is the new ssh.", "kubectl"],
    ]);
    await client.event("watching");
    stage.root.set("none", { text: "Somebody did.", author: "she" });
    stage.root.delete("ssh");
    await client.until("rows", () => client.all("row").length === 2);
    expect(client.all("row").map(({ type, cells }) => [type, ...cells[0].slice(0, 3)])).to.deep.equal([
      ["MODIFIED", "none", "Somebody did.", "she"],
      ["DELETED", "ssh", "Edit is the new ssh.", "kubectl"],
    ]);
    expect((await client.event("bookmark"))["kind"]).to.equal("Table");
    await client.end();
  });

  it("are watched by selector: rows enter and leave", async () => {
    await using stage = await Stage.start();
    stage.root.set("one", { text: "1" }, { labels: { team: "red" } });
    await using client = stage.client("table", { labels: "team=red" });
    await client.event("watching");
    stage.root.set("one", { text: "1" }, { labels: { team: "blue" } });
    stage.root.set("two", { text: "2" }, { labels: { team: "red" } });
    await client.until("rows", () => client.all("row").length === 2);
    expect(client.all("row").map(({ type, names }) => `${type} ${names}`)).to.deep.equal(["DELETED one", "ADDED two"]);
    await client.end();
  });
});
