// Informers of client-go with its default WatchList: dynamic, typed and metadata-only ones.
import { allow, authenticated, CLUSTER_ANNOTATION, defineVirtualWorkspace } from "@virtual-workspaces/framework";
import { expect } from "chai";
import { building } from "./support/build.ts";
import { GoClient } from "./support/client.ts";
import { Stage } from "./support/stage.ts";
import { Quote } from "./support/views.ts";

const INFORMERS = ["informer", "typed-informer", "metadata-informer"] as const;

describe("informers", function () {
  this.timeout(60_000);
  before(building("clients"));

  for (const informer of INFORMERS) {
    describe(informer, () => {
      it("syncs on existing objects with a single WatchList", async () => {
        await using stage = await Stage.start();
        stage.fill(500);
        await using client = stage.client(informer);
        expect((await client.event("synced"))["count"]).to.equal(500);
        await client.holds(stage.versions);
        expect(client.verbs()).to.deep.equal(["watchlist"]);
        expect(client.noise()).to.deep.equal([]);
        await client.end();
      });

      it("holds the objects unchanged", async () => {
        await using stage = await Stage.start();
        const quote = stage.root.set(
          "ssh",
          { text: "Edit is the new ssh. ❤", author: "kubectl" },
          { labels: { a: "b" } },
        );
        await using client = stage.client(informer);
        await client.event("synced");
        const { objects, resourceVersion } = await client.state();
        const { metadata, spec } = objects["ssh"];
        expect(metadata).to.deep.equal(quote.metadata);
        expect(spec).to.deep.equal(informer === "metadata-informer" ? undefined : quote.spec);
        expect(resourceVersion).to.equal(quote.metadata.resourceVersion);
        await client.end();
      });

      it("syncs within a second without any objects, and receives the first one", async () => {
        await using stage = await Stage.start();
        await using client = stage.client(informer);
        const asked = await client.event("request");
        const synced = await client.event("synced");
        expect(synced["count"]).to.equal(0);
        expect(synced.at - asked.at).to.be.below(1000);
        stage.root.set("first", { text: "Hello?" });
        await client.event("added", ({ key, initial }) => key === "first" && initial === false);
        await client.holds(stage.versions);
        await client.end();
      });

      it("receives every change, in order, with its version", async () => {
        await using stage = await Stage.start();
        stage.fill(3);
        await using client = stage.client(informer);
        await client.event("synced");
        const told = client.events.length;
        const expected = [
          `added new ${stage.root.set("new", { text: "n" }).metadata.resourceVersion}`,
          `updated quote-0001 ${stage.root.set("quote-0001", { text: "changed" }).metadata.resourceVersion}`,
          `updated new ${stage.root.set("new", { text: "n" }, { labels: { a: "b" } }).metadata.resourceVersion}`,
        ];
        stage.root.delete("quote-0002");
        stage.root.delete("new");
        const again = stage.root.set("new", { text: "again" });
        await client.holds(stage.versions);
        const seen = client.events.slice(told).filter(({ event }) => /^(added|updated|deleted)$/.test(event));
        const gone = seen.filter(({ event }) => event === "deleted");
        expect(gone.map(({ key, unseen }) => [key, unseen])).to.deep.equal([
          ["quote-0002", false],
          ["new", false],
        ]);
        expect(seen.map(({ event, key, resourceVersion }) => `${event} ${key} ${resourceVersion}`)).to.deep.equal([
          ...expected,
          ...gone.map(({ key, resourceVersion }) => `deleted ${key} ${resourceVersion}`),
          `added new ${again.metadata.resourceVersion}`,
        ]);
        expect(client.verbs()).to.deep.equal(["watchlist"]);
        await client.end();
      });
    });
  }

  it("miss no change during the initial events", async () => {
    await using stage = await Stage.start({ wire: true });
    const text = "long ".repeat(1000);
    for (let at = 0; at < 4000; at++) stage.root.set(`quote-${at}`, { text: `${at} ${text}` });
    const held = stage.wire.hold(1_000_000);
    await using client = stage.client("informer");
    await held;
    stage.root.set("during", { text: "added" });
    stage.root.set("quote-3999", { text: "changed, not sent yet" });
    stage.root.set("quote-0", { text: "changed, sent already" });
    stage.root.delete("quote-3998");
    stage.root.delete("quote-1");
    expect(client.all("synced")).to.deep.equal([]);
    stage.wire.release();
    await client.event("synced", undefined, 20_000);
    await client.holds(stage.versions);
    expect(client.all("deleted").map(({ key }) => key)).to.include("quote-1", "was sent before it was deleted");
    expect(client.verbs()).to.deep.equal(["watchlist"]);
    await client.end();
  });

  it("miss no change while the watch is being opened", async () => {
    let late = 0;
    await using stage = await Stage.start({
      view: (quotes) =>
        defineVirtualWorkspace({
          name: "quotes",
          path: "/clusters/:cluster",
          authorize: ({ verb }) => {
            if (verb === "watch") quotes.in("root").set(`late-${late++}`, { text: "just in time" });
            return allow();
          },
          resources: [Quote.serve(quotes)],
        }),
    });
    await using client = stage.client("informer");
    expect((await client.event("synced"))["count"]).to.equal(1);
    await client.holds(stage.versions);
    expect(late).to.equal(1);
    await client.end();
  });

  it("sync by LIST and WATCH without WatchList, like older ones", async () => {
    await using stage = await Stage.start();
    stage.fill(20);
    const env = { KUBE_FEATURE_WatchListClient: "false" };
    await using client = GoClient.start("informer", { kubeconfig: stage.kubeconfig, env });
    expect((await client.event("synced"))["count"]).to.equal(20);
    stage.root.set("late", { text: "after the list" });
    stage.root.delete("quote-0003");
    await client.holds(stage.versions);
    expect(client.verbs()).to.deep.equal(["get", "watch"]);
    await client.end();
  });

  it("authenticate with a token as well as with a certificate", async () => {
    await using stage = await Stage.start({ user: "alice" });
    stage.fill(3);
    await using client = stage.client("informer");
    expect((await client.event("synced"))["count"]).to.equal(3);
    await client.end();
  });

  it("of all logical clusters see each object with its cluster", async () => {
    await using stage = await Stage.start({
      cluster: "*",
      view: (quotes) =>
        defineVirtualWorkspace({
          name: "quotes",
          path: "/clusters/:cluster",
          wildcard: true,
          authorize: authenticated(),
          resources: [Quote.serve(quotes)],
        }),
    });
    stage.quotes.in("one").set("first", { text: "1" });
    await using client = stage.client("informer");
    await client.event("synced");
    stage.quotes.in("two").set("second", { text: "2" });
    await client.event("added", ({ key }) => key === "second");
    const { objects } = await client.state();
    const from = (key: string) => objects[key].metadata.annotations[CLUSTER_ANNOTATION];
    expect([from("first"), from("second")]).to.deep.equal(["one", "two"]);
    stage.quotes.in("one").delete("first");
    await client.event("deleted", ({ key }) => key === "first");
    await client.end();
  });
});
