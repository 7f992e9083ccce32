// Manager of controller-runtime with its cache and a reconciler, as in operators.
import { expect } from "chai";
import { building } from "./support/build.ts";
import { Stage } from "./support/stage.ts";

describe("controller-runtime", function () {
  this.timeout(60_000);
  before(building("clients"));

  for (const as of ["typed", "unstructured", "metadata"]) {
    it(`reconciles exactly the changes of ${as} objects`, async () => {
      await using stage = await Stage.start();
      stage.fill(5);
      await using client = stage.client("cache", { as });
      for (const [key, resourceVersion] of stage.versions)
        await client.event("reconcile", (told) => told["key"] === key && told["resourceVersion"] === resourceVersion);
      expect(client.all("reconcile")).to.have.length(5);

      const changed = stage.root.set("quote-0001", { text: "changed" }).metadata.resourceVersion;
      await client.event("reconcile", (told) => told["key"] === "quote-0001" && told["resourceVersion"] === changed);
      stage.root.delete("quote-0002");
      await client.event("reconcile", (told) => told["key"] === "quote-0002" && told["found"] === false);
      const added = stage.root.set("new", { text: "new" }).metadata.resourceVersion;
      await client.event("reconcile", (told) => told["key"] === "new" && told["resourceVersion"] === added);

      expect(client.all("reconcile")).to.have.length(8);
      expect(client.verbs().filter((verb) => verb.startsWith("watch"))).to.deep.equal(["watchlist"]);
      expect(client.noise()).to.deep.equal([]);
      await client.end();
    });
  }

  it("continues through a restart, and notices objects that left meanwhile", async () => {
    await using stage = await Stage.start();
    stage.fill(3);
    await using client = stage.client("cache");
    await client.until("reconciles", () => client.all("reconcile").length === 3);
    await stage.stop();
    expect((await client.event("watch-end"))["clean"]).to.equal(true);
    stage.root.delete("quote-0001");
    stage.root.set("new", { text: "while away" });
    await stage.resume();
    await client.event("reconcile", ({ key, found }) => key === "quote-0001" && found === false, 30_000);
    await client.event("reconcile", ({ key }) => key === "new");
    expect(client.all("reconcile")).to.have.length(5);
    expect(client.noise()).to.deep.equal([]);
    await client.end();
  });
});
