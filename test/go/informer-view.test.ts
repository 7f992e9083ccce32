// Objects that enter and leave the scope of an informer, by a selector, a field or a view's own rule.
import { defineResource, view } from "@virtual-workspaces/framework";
import { expect } from "chai";
import { building } from "./support/build.ts";
import type { GoClient } from "./support/client.ts";
import { Stage } from "./support/stage.ts";
import { Quote, quotesView } from "./support/views.ts";

/** Returns the keys and event types that the informer has reported since its sync. */
function told(client: GoClient): string[] {
  const after = client.events.findIndex(({ event }) => event === "synced");
  const objects = client.events.slice(after + 1).filter(({ event }) => /^(added|updated|deleted)$/.test(event));
  return objects.map(({ event, key }) => `${event} ${key}`);
}

describe("informers of a part", function () {
  this.timeout(60_000);
  before(building("clients"));

  for (const command of ["informer", "typed-informer", "metadata-informer"] as const) {
    it(`${command} by label: objects enter and leave as their labels change`, async () => {
      await using stage = await Stage.start();
      const { root } = stage;
      root.set("in", { text: "a" }, { labels: { team: "red" } });
      root.set("out", { text: "b" }, { labels: { team: "blue" } });
      await using client = stage.client(command, { labels: "team in (red, green)" });
      await client.event("synced");
      expect([...client.objects.keys()]).to.deep.equal(["in"]);
      root.set("out", { text: "b" }, { labels: { team: "green" } });
      root.set("in", { text: "a" }, { labels: {} });
      root.set("other", { text: "never seen" }, { labels: { team: "blue" } });
      root.delete("other");
      const back = root.set("in", { text: "a2" }, { labels: { team: "red" } });
      root.delete("out");
      await client.holds(new Map([["in", back.metadata.resourceVersion ?? ""]]));
      expect(told(client)).to.deep.equal(["added out", "deleted in", "added in", "deleted out"]);
      await client.end();
    });
  }

  it("by field: objects enter and leave as their fields change", async () => {
    await using stage = await Stage.start();
    const { root } = stage;
    root.set("one", { text: "a", author: "kubectl" });
    root.set("two", { text: "b", author: "kcp" });
    await using client = stage.client("informer", { fields: "spec.author=kcp" });
    await client.event("synced");
    root.set("one", { text: "a", author: "kcp" });
    root.set("two", { text: "b", author: "someone" });
    await client.event("deleted");
    expect(told(client)).to.deep.equal(["added one", "deleted two"]);
    await client.end();
  });

  it("of a view: objects enter and leave by its rule and by its inputs", async () => {
    const Ban = defineResource({
      group: "example.dev",
      version: "v1",
      kind: "Ban",
      scope: "Cluster",
      spec: { type: "object", required: ["author"], properties: { author: { type: "string" } } },
    });
    const bans = Ban.collection();
    await using stage = await Stage.start({
      view: (quotes) => {
        const shown = view({
          from: quotes,
          to: Quote,
          inputs: { bans },
          select: ({ spec }, { inputs }) =>
            spec.text.length < 20 && !inputs.bans.list().some((ban) => ban.spec.author === spec.author),
          map: ({ spec }) => ({ spec: { text: spec.text.toUpperCase(), author: spec.author ?? "anonymous" } }),
        });
        return quotesView([Quote.serve(shown)]);
      },
    });
    const { root } = stage;
    root.set("short", { text: "short", author: "kcp" });
    root.set("long", { text: "much too long to be shown" });
    await using client = stage.client("informer");
    await client.event("synced");
    expect([...client.objects.keys()]).to.deep.equal(["short"]);
    root.set("long", { text: "not any more" });
    await client.event("added", ({ key }) => key === "long");
    root.set("short", { text: "short no more, so that it has to leave" });
    await client.event("deleted", ({ key }) => key === "short");
    root.set("short", { text: "short", author: "kcp" });
    await client.event("added", ({ key, initial }) => key === "short" && initial === false);
    bans.in("root").set("kcp", { author: "kcp" });
    await client.until("second delete of short", () => client.all("deleted").length === 2);
    const before = await client.state();
    expect(Object.keys(before["objects"])).to.deep.equal(["long"]);
    expect(before["objects"].long.spec).to.deep.equal({ text: "NOT ANY MORE", author: "anonymous" });
    bans.in("root").delete("kcp");
    await client.until("short once more", () => client.objects.has("short"));
    expect(told(client)).to.deep.equal(["added long", "deleted short", "added short", "deleted short", "added short"]);
    expect(client.verbs()).to.deep.equal(["watchlist"]);
    expect(client.noise()).to.deep.equal([]);
    await client.end();
  });

  it("of a view through a disconnection: objects that left meanwhile are seen leaving", async () => {
    await using stage = await Stage.start({
      wire: true,
      view: (quotes) =>
        quotesView([Quote.serve(view({ from: quotes, select: ({ spec }) => spec.author !== "nobody" }))]),
    });
    const { root } = stage;
    stage.fill(5);
    await using client = stage.client("informer");
    await client.event("synced");
    await stage.touch(client);
    stage.wire.cut();
    root.set("quote-0001", { text: "leaves", author: "nobody" });
    root.set("quote-0002", { text: "stays", author: "somebody" });
    root.set("new", { text: "enters" });
    await client.event("added", ({ key }) => key === "new", 30_000);
    expect(told(client)).to.deep.equal(["added touch", "deleted quote-0001", "updated quote-0002", "added new"]);
    expect(client.all("deleted")[0]?.["unseen"]).to.equal(false);
    expect(client.verbs().filter((verb) => verb === "watchlist")).to.have.length(1);
    await client.end();
  });
});
