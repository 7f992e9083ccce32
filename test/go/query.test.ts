// Informers of client-go over a query view: they ignore what its lists and events have besides Kubernetes' fields.
import { queryView } from "@virtual-workspaces/query";
import { expect } from "chai";
import { building } from "./support/build.ts";
import { Stage } from "./support/stage.ts";
import { Quote, type Quotes, quotesView } from "./support/views.ts";

const view = (quotes: Quotes) => queryView({ name: "quotes", over: quotesView([Quote.serve(quotes)]) });

describe("informers over a query view", function () {
  this.timeout(60_000);
  before(building("clients"));

  for (const informer of ["informer", "typed-informer", "metadata-informer"] as const)
    it(`hold all objects of all logical clusters while they come, change and go: ${informer}`, async () => {
      await using stage = await Stage.start({ view, cluster: "*" });
      stage.fill(50);
      await using client = stage.client(informer);
      expect((await client.event("synced"))["count"]).to.equal(50);
      stage.fill(20, "later");
      for (const { metadata } of stage.root.list().slice(0, 10))
        stage.root.set(metadata.name ?? "", { text: "changed" });
      for (const { metadata } of stage.root.list().slice(5, 15)) stage.root.delete(metadata.name ?? "");
      await client.holds(stage.versions);
      expect(client.noise()).to.deep.equal([]);
      await client.end();
    });

  it("resumes after the connection was cut, without a new list", async () => {
    await using stage = await Stage.start({ view, cluster: "*", wire: true });
    stage.fill(10);
    await using client = stage.client("informer");
    await client.event("synced");
    await stage.touch(client);
    stage.wire.cut();
    stage.fill(5, "later");
    stage.root.delete("quote-0003");
    await client.holds(stage.versions);
    expect(client.verbs()).to.not.include("list");
    await client.end();
  });
});
