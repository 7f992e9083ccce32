// The open questions of the proposal on lists and watches across clusters, each with its answer.
import { followSpaces, type Spaces } from "@virtual-workspaces/spaces";
import { expect } from "chai";
import { until } from "../../../_support/until.ts";
import { NOTE, type NoteContent, QUICK } from "../../../client/informer/support.ts";
import { Lent } from "../support/lent.ts";
import { MAP } from "../support/management.ts";
import { Reader } from "../support/reader.ts";
import { Shops } from "../support/shops.ts";

const { backoff } = QUICK;
const onError = ({ error }: { readonly error: unknown }): never => {
  throw error;
};

describe("open questions of the proposal", function () {
  this.timeout(60_000);
  let shops: Shops;
  let spaces: Spaces;

  before(async () => {
    shops = await Shops.start("one", "two");
    spaces = followSpaces({ client: shops.management.client, namespace: "default", onError });
    await spaces.synced;
    shops.set("one", "menu", "leek");
    shops.set("two", "menu", "pea");
  });
  after(async () => {
    await spaces?.[Symbol.asyncDispose]();
    await shops?.[Symbol.asyncDispose]();
  });

  it("1. conflicts of names and versions: the Space identifies an object, versions are those of the Space, and the stream has cursors of its own", async () => {
    const { items, cursor } = await spaces.list(NOTE);
    expect(items.map(({ space, object }) => [space, object.metadata.name, object.spec.text])).to.eql([
      ["default/one", "menu", "leek"],
      ["default/two", "menu", "pea"],
    ]);
    for (const { space, object } of items) {
      const own = await spaces.client(space).resource(NOTE).get("menu");
      expect(object).to.eql(own);
    }
    // Two servers can use the same version for different states: cursors confuse neither.
    const [one, two] = [shops.set("one", "menu", "onion"), shops.set("two", "menu", "onion")];
    const told: string[] = [];
    for await (const event of spaces.watch(NOTE, { cursor, backoff })) {
      if ("object" in event) told.push(`${event.space} ${event.object.metadata.resourceVersion}`);
      if (told.length === 2) break;
    }
    const versions = [one, two].map(({ metadata }) => metadata.resourceVersion);
    expect(told.sort()).to.eql([`default/one ${versions[0]}`, `default/two ${versions[1]}`]);
  });

  it("2. one list and one watch serve all kinds, with the type of each", async () => {
    const { items } = await spaces.list(NOTE);
    const texts: (string | undefined)[] = items.map(({ object }) => object.spec.text);
    expect(texts).to.have.length(2);
    for await (const event of spaces.watch<NoteContent>(NOTE, { backoff })) {
      if (event.type !== "ADDED") continue;
      const text: string | undefined = event.object.spec.text;
      expect(text).to.be.a("string");
      break;
    }
    const unknown = await spaces.list({ ...NOTE, type: undefined as never });
    expect(unknown.items.map(({ object }) => typeof object)).to.eql(["object", "object"]);
  });

  it("3. an event names the Space of its object beside the object, which is unchanged and can be written back as it is", async () => {
    await using lent = await Lent.start("one", "two");
    await using workspaces = followSpaces({ client: lent.management.client, namespace: "default", onError });
    await workspaces.synced;
    await lent.put("one", "menu", { soup: "leek" });
    await lent.put("two", "menu", { soup: "pea" });
    const written: string[] = [];
    const options = { namespace: "default", fields: "metadata.name=menu", backoff } as const;
    for await (const event of workspaces.watch(MAP, options)) {
      if (event.type !== "ADDED") continue;
      const { space, object } = event;
      expect(Object.keys(object.metadata.annotations ?? {}).filter((name) => /space/.test(name))).to.eql([]);
      const maps = workspaces.client(space).resource(MAP);
      await maps.update({ ...object, data: { soup: `${space}'s` } });
      written.push(space);
      // Its own Space reports that it has changed meanwhile, and any other that it is another object.
      expect(await maps.update(object).catch(({ code }) => code)).to.equal(409);
      const other = workspaces.client(space === "default/one" ? "default/two" : "default/one").resource(MAP);
      expect(await other.update(object).catch(({ code }) => code)).to.equal(409);
      if (written.length === 2) break;
    }
    const { items } = await workspaces.list(MAP, options);
    expect(items.map(({ object }) => (object as { data?: { soup?: string } }).data?.soup)).to.eql([
      "default/one's",
      "default/two's",
    ]);
  });

  it("4. Spaces that are added and removed during a watch are reported once, as a whole, without later events", async () => {
    await using reader = new Reader(spaces.watch(NOTE, { backoff }));
    await until(() => reader.lines.length === 4, { what: "both" });
    await shops.open("three");
    shops.set("three", "menu", "kale");
    await until(() => reader.known.get("default/three")?.size === 1, { what: "the third" });
    await shops.remove("three");
    await until(() => reader.lines.includes("LEFT default/three gone"), { what: "it has left" });
    shops.set("three", "menu", "late");
    shops.set("one", "menu", "onion again");
    await until(() => reader.lines.includes("= default/one menu onion again"), { what: "another" });
    expect([...reader.known.keys()].sort()).to.eql(["default/one", "default/two"]);
    expect(reader.lines.filter((line) => line.endsWith("late"))).to.eql([]);
    expect(reader.wrong).to.eql([]);
  });
});
