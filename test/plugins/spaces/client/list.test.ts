// Lists across Spaces: the Space of each object, and failed Spaces.
import { followSpaces, type Spaces } from "@virtual-workspaces/spaces";
import { expect } from "chai";
import { Lent, when } from "../support/lent.ts";
import { MAP, NAMESPACE } from "../support/management.ts";

describe("lists across Spaces", function () {
  this.timeout(60_000);
  let lent: Lent;
  let spaces: Spaces;

  before(async () => {
    lent = await Lent.start("one", "two", "three");
    spaces = followSpaces({ client: lent.management.client, onError: () => undefined });
    await spaces.synced;
    for (const name of ["one", "two", "three"]) await lent.put(name, "menu", { soup: `of ${name}` });
  });
  after(async () => {
    await spaces?.[Symbol.asyncDispose]();
    await lent?.[Symbol.asyncDispose]();
  });

  const soups = async (): Promise<string[]> => {
    const { items } = await spaces.list(MAP, { namespace: "default", fields: "metadata.name=menu" });
    return items.map(({ space, object }) => `${space} ${(object as { data?: { soup?: string } }).data?.soup}`);
  };

  it("return each object with its Space", async () => {
    expect(await soups()).to.eql(["default/one of one", "default/three of three", "default/two of two"]);
    const { items, failed } = await spaces.list(NAMESPACE, { fields: "metadata.name=default" });
    expect(items.map(({ space }) => space)).to.eql(["default/one", "default/three", "default/two"]);
    expect(failed).to.eql([]);
    const none = await spaces.list(MAP, { labels: "no=such" });
    expect(none).to.deep.include({ items: [], failed: [] });
  });

  it("name the Spaces that could not be read, with the reason", async () => {
    await lent.conceal("three");
    await when(spaces, () => spaces.engaged.length === 2);
    lent.down("one");
    const { items, failed } = await spaces.list(MAP, { namespace: "default", fields: "metadata.name=menu" });
    expect(items.map(({ space }) => space)).to.eql(["default/two"]);
    expect(failed.map(({ space }) => space)).to.eql(["default/one", "default/three"]);
    expect(String(failed[1]?.error)).to.match(
      /default\/three is not available: (AccessMissing|SecretNotFound): the Secret/,
    );
    lent.up("one");
    await lent.rotate("three", "root");
    await when(spaces, () => spaces.engaged.length === 3);
    expect(await soups()).to.have.length(3);
  });

  it("include the message of a Space that rejects the request", async () => {
    await lent.rotate("two", "alice");
    await when(spaces, () => spaces.space("default/two").config.credential?.token === "alice");
    const { items, failed } = await spaces.list(MAP, { namespace: "default", fields: "metadata.name=menu" });
    expect(items.map(({ space }) => space)).to.eql(["default/one", "default/three"]);
    expect(failed).to.have.length(1);
    expect(failed[0]).to.have.nested.property("error.code", 403);
    await lent.rotate("two", "root");
    await when(spaces, () => spaces.space("default/two").config.credential?.token === "root");
  });

  it("end when their signal aborts", async () => {
    const signal = AbortSignal.abort(new Error("enough"));
    expect(await spaces.list(MAP, { signal }).catch(({ message }) => message)).to.equal("enough");
  });
});
