// Informers across the end of one server and the start of another: they catch up on all changes, including deletes.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { createAuthority, kubeconfigHome } from "../_support/server.ts";
import { building } from "./support/build.ts";
import { ChildServer } from "./support/child.ts";
import { GoClient } from "./support/client.ts";
import { Stage } from "./support/stage.ts";
import { QUOTES } from "./support/views.ts";

describe("informers across a restart", function () {
  this.timeout(60_000);
  before(building("clients"));

  for (const command of ["informer", "typed-informer", "metadata-informer"] as const) {
    it(`${command}: gets 410 for versions of a killed process, and relists exactly`, async () => {
      const authority = createAuthority();
      await using before = new ChildServer();
      await before.set("stays", "changes", "goes");
      await before.start(authority);
      using home = await kubeconfigHome({ authority, port: before.port, contexts: QUOTES });
      await using client = GoClient.start(command, home);
      await client.event("synced");
      await before.set("late");
      await client.holds(before.versions);

      await before.kill();
      await using after = new ChildServer();
      await after.set("new", "stays", "changes");
      await after.start(authority, before.port);
      await client.holds(after.versions, 30_000);

      const refused = await client.event("watch-error");
      expect([refused["code"], refused["reason"]]).to.deep.equal([410, "Expired"]);
      const gone = client.all("deleted").map(({ key, unseen }) => [key, unseen]);
      expect(gone).to.have.deep.members([
        ["goes", true],
        ["late", true],
      ]);
      const { objects } = await client.state();
      expect(Object.keys(objects)).to.have.members(["new", "stays", "changes"]);
      // The relist first requests at least the known version, and gets 410 again; then it requests any version.
      const lists = client.all("request").filter(({ verb, code }) => verb === "watchlist" && code !== undefined);
      expect(lists.map(({ code }) => code)).to.deep.equal([200, 410, 200]);
      await after.set("goes");
      await client.holds(after.versions);
      await client.end();
    });
  }

  for (const command of ["informer", "typed-informer"] as const) {
    it(`${command}: continues without a relist when a killed process had its objects on disk`, async () => {
      const authority = createAuthority();
      const dir = await mkdtemp(join(tmpdir(), "quotes-"));
      try {
        await using before = new ChildServer(dir);
        await before.set("stays", "changes", "goes");
        await before.start(authority);
        using home = await kubeconfigHome({ authority, port: before.port, contexts: QUOTES });
        await using client = GoClient.start(command, home);
        await client.event("synced");
        await before.set("late");
        await client.holds(before.versions);

        await before.kill();
        await using after = new ChildServer(dir);
        await after.set("new", "changes");
        await after.delete("goes");
        await after.start(authority, before.port);
        await client.holds(after.versions, 30_000);

        expect([...after.versions.keys()]).to.have.members(["stays", "changes", "late", "new"]);
        expect(client.all("deleted").map(({ key, unseen }) => [key, unseen])).to.deep.equal([["goes", false]]);
        expect(client.verbs().filter((verb) => verb === "watchlist")).to.have.length(1);
        await client.end();
      } finally {
        await rm(dir, { recursive: true });
      }
    });
  }

  it("resume without a relist or a message when another server takes over the same objects", async () => {
    await using stage = await Stage.start();
    stage.fill(10);
    await using client = stage.client("informer");
    await client.event("synced");
    await stage.stop();
    expect((await client.event("watch-end"))["clean"]).to.equal(true);
    stage.root.set("missed", { text: "while nobody listened" });
    stage.root.delete("quote-0003");
    await stage.resume();
    await client.holds(stage.versions, 30_000);
    expect(client.all("deleted").map(({ key, unseen }) => [key, unseen])).to.deep.equal([["quote-0003", false]]);
    expect(client.verbs().filter((verb) => verb === "watchlist")).to.have.length(1);
    expect(client.all("watch-error")).to.deep.equal([]);
    expect(client.all("log")).to.deep.equal([]);
    await client.end();
  });

  it("relist when another server has taken over without the old objects", async () => {
    await using stage = await Stage.start();
    stage.fill(10);
    await using client = stage.client("informer");
    await client.event("synced");
    await stage.stop();
    stage.restock();
    stage.root.set("only", { text: "one" });
    await stage.resume();
    await client.holds(stage.versions, 30_000);
    expect((await client.event("watch-error"))["code"]).to.equal(410);
    expect(client.all("deleted")).to.have.length(10);
    await client.end();
  });
});
