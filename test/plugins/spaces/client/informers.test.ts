// Informers across Spaces: events while Spaces are added, removed, moved, unreachable or replaced.
import { controller, Informer } from "@virtual-workspaces/client";
import { type EngagedSpace, followSpaces, namespaceOf, type Spaces } from "@virtual-workspaces/spaces";
import { expect } from "chai";
import { until } from "../../../_support/until.ts";
import { type AnyMap, Lent, when } from "../support/lent.ts";
import { isReady, MAP, NAMESPACE } from "../support/management.ts";

describe("informers across Spaces", function () {
  this.timeout(60_000);
  let lent: Lent;
  let spaces: Spaces;
  let made: string[];
  const told: string[] = [];
  const failures: string[] = [];

  before(async () => {
    lent = await Lent.start();
    await lent.management.provide("made");
    await lent.management.untilProvider("made", (one) => one?.status?.Phase === "Ready");
  });
  after(() => lent?.[Symbol.asyncDispose]());
  beforeEach(async () => {
    await lent.lend("one");
    await lent.lend("two");
    await lent.put("one", "menu", { soup: "leek" });
    await lent.put("two", "menu", { soup: "pea" });
    [made, told.length, failures.length] = [[], 0, 0];
  });
  afterEach(async () => {
    await spaces[Symbol.asyncDispose]();
    for (const name of ["one", "two"]) await lent.giveBack(name);
  });

  const mapsOf = ({ name, client }: EngagedSpace): Informer<Pick<AnyMap, "data">> => {
    made.push(name);
    return new Informer({ resource: client.resource(MAP).in("default") }).start();
  };
  const watched = async (options: { readonly patience?: number } = {}) => {
    const { client } = lent.management;
    spaces = followSpaces({ client, onError: ({ space, error }) => void failures.push(`${space}: ${error}`) });
    const informers = spaces.informers({ informers: { maps: mapsOf }, ...options });
    const tell =
      (what: string) =>
      ({ metadata, data }: AnyMap, ...rest: readonly unknown[]): void => {
        const { key } = rest.at(-1) as { readonly key: { readonly cluster: string } };
        if (metadata.name !== "kube-root-ca.crt")
          told.push(`${what} ${key.cluster} ${metadata.name} ${data?.["soup"]}`);
      };
    informers.sources.maps.on({ added: tell("+"), updated: tell("="), deleted: tell("-"), gone: tell("?") });
    await informers.synced;
    return informers;
  };
  const heard = async (...lines: readonly string[]): Promise<void> => {
    await until(() => lines.every((line) => told.includes(line)), { what: `${lines} in ${told}` });
    expect(told.sort()).to.eql([...lines].sort());
    told.length = 0;
  };
  const AT_FIRST = ["+ default/one menu leek", "+ default/two menu pea"];

  it("keep objects with the same name in two Spaces apart", async () => {
    const { sources, statuses } = await watched();
    await heard(...AT_FIRST);
    const soup = (cluster: string) =>
      sources.maps.store.get({ cluster, namespace: "default", name: "menu" })?.data?.["soup"];
    expect([soup("default/one"), soup("default/two"), soup("default/none")]).to.eql(["leek", "pea", undefined]);
    expect([...sources.maps.store.list()].filter(({ metadata }) => metadata.name === "menu")).to.have.length(2);
    expect(statuses).to.eql([
      { space: "default/one", synced: true },
      { space: "default/two", synced: true },
    ]);
    await lent.put("two", "menu", { soup: "onion" });
    await heard("= default/two menu onion");
    await lent.take("one", "menu");
    await heard("- default/one menu leek");
    const late: string[] = [];
    sources.maps.on({ added: (_, { key, initial }) => void late.push(`${key.cluster} ${key.name} ${initial}`) });
    expect(late.filter((line) => line.includes("menu"))).to.eql(["default/two menu true"]);
  });

  it("report new Spaces, the deletion of objects in managed Spaces, and the absence of objects in others", async () => {
    await watched();
    await heard(...AT_FIRST);
    const namespace = namespaceOf("made");
    await lent.management.make(namespace, "own");
    await lent.management.until(namespace, "own", isReady);
    const own = (await spaces.when(`${namespace}/own`)).client.resource(MAP).in("default");
    await own.create({ metadata: { name: "menu" }, data: { soup: "nettle" } });
    await heard("+ spaceprovider-made/own menu nettle");
    await lent.management.removeSpace(namespace, "own");
    await heard("- spaceprovider-made/own menu nettle");
    await lent.remove("two");
    await heard("? default/two menu pea");
    expect((await lent.inside("two").resource(MAP).in("default").get("menu")).metadata.name).to.equal("menu");
    await lent.lend("two");
    await heard("+ default/two menu pea");
    expect(failures).to.eql([]);
  });

  it("treat a Space that is created again under the same name as another Space", async () => {
    await watched();
    await heard(...AT_FIRST);
    await lent.remove("two");
    await lent.put("two", "menu", { soup: "fish" });
    await lent.management.make("default", "two", { Type: "imported" });
    await heard("? default/two menu pea", "+ default/two menu fish");
  });

  it("report only the differences when a Space moves to another server", async () => {
    const informers = await watched();
    await heard(...AT_FIRST);
    lent.down("one");
    await until(() => failures.length > 0, { what: "a failure" });
    await lent.put("one", "dinner", { soup: "beet" });
    await lent.take("one", "menu");
    await lent.put("one", "menu", { soup: "leek again" });
    expect(informers.statuses[0]).to.deep.include({ space: "default/one", synced: true });
    lent.up("one");
    const before = spaces.client("default/one");
    await lent.show("one");
    await until(() => spaces.client("default/one") !== before, { what: "another client" });
    await heard("- default/one menu leek", "+ default/one menu leek again", "+ default/one dinner beet");
    expect(made.filter((name) => name === "default/one")).to.have.length(2);
    await lent.put("one", "menu", { soup: "last" });
    await heard("= default/one menu last");
    await lent.put("two", "menu", { soup: "onion" });
    await heard("= default/two menu onion");
    const closed = await before
      .resource(NAMESPACE)
      .get("default")
      .catch((error) => error);
    expect(closed).to.be.instanceOf(Error);
  });

  it("do not wait for unreachable Spaces, name them, and show them when they are back", async () => {
    lent.down("one");
    const informers = await watched();
    await heard("+ default/two menu pea");
    expect(informers.statuses.map(({ space, synced }) => `${space} ${synced}`)).to.eql([
      "default/one false",
      "default/two true",
    ]);
    expect(String(informers.statuses[0]?.error)).to.match(/ECONNREFUSED|ECONNRESET|closed|hang up/);
    expect(failures[0]).to.match(/^default\/one: /);
    lent.up("one");
    await heard("+ default/one menu leek");
    expect(informers.statuses[0]).to.eql({ space: "default/one", synced: true });
  });

  it("continue without a Space that does not respond, after the time limit", async () => {
    await lent.silence("two");
    const informers = await watched({ patience: 50 });
    await heard("+ default/one menu leek");
    expect(informers.statuses[1]).to.eql({ space: "default/two", synced: false });
    lent.up("two");
    lent.wires.get("two")?.cut();
    await heard("+ default/two menu pea");
  });

  it("keep the objects of a Space that is not Ready, and keep watching it", async () => {
    await watched();
    await heard(...AT_FIRST);
    await lent.conceal("one");
    await when(spaces, () => spaces.engaged.length === 1);
    await lent.put("one", "menu", { soup: "onion" });
    await heard("= default/one menu onion");
    await lent.rotate("one", "root");
    await when(spaces, () => spaces.engaged.length === 2);
    await lent.put("one", "menu", { soup: "cress" });
    await heard("= default/one menu cress");
    expect(made).to.have.length(2);
  });

  it("lose nothing while credentials are revoked and replaced", async () => {
    await watched();
    await heard(...AT_FIRST);
    const client = spaces.client("default/one");
    await lent.rotate("one", "nobody-knows-this");
    await when(spaces, () => spaces.space("default/one").config.credential?.token === "nobody-knows-this");
    lent.wires.get("one")?.cut();
    // The watch fails, unless the manager has found the Space not Ready before.
    const isRejected = (): boolean => failures.some((line) => /^default\/one: .*Unauthorized/.test(line));
    await until(() => isRejected() || spaces.engaged.length === 1, { what: "a failure" });
    await lent.put("one", "menu", { soup: "onion" });
    await lent.put("two", "menu", { soup: "onion" });
    await heard("= default/two menu onion");
    await lent.rotate("one", "root");
    await heard("= default/one menu onion");
    expect(spaces.client("default/one")).to.equal(client);
    expect(made).to.have.length(2);
  });

  it("add a Space without an effect on the streams of others", async () => {
    await watched();
    await heard(...AT_FIRST);
    await lent.lend("three");
    await lent.put("three", "menu", { soup: "egg" });
    await heard("+ default/three menu egg");
    await lent.giveBack("three");
    await heard("- default/three menu egg");
    expect(made).to.have.members(["default/one", "default/two", "default/three"]);
    expect(failures).to.eql([]);
  });

  it("report why the informers of a Space cannot be created, and serve the others", async () => {
    const { client } = lent.management;
    spaces = followSpaces({ client, onError: ({ space, error }) => void failures.push(`${space}: ${error}`) });
    const informers = spaces.informers({
      informers: {
        maps: (space) => {
          if (space.name === "default/one") throw new Error("not here");
          return mapsOf(space);
        },
      },
    });
    await informers.synced;
    await until(() => [...informers.sources.maps.store.list()].length > 0, { what: "what the other has" });
    expect(informers.statuses[0]).to.deep.include({ space: "default/one", synced: false });
    expect(String(informers.statuses[0]?.error)).to.equal("Error: not here");
    expect(failures).to.eql(["default/one: Error: not here"]);
  });

  it("let controllers process one Space after another, and stop with the informers", async () => {
    for (let i = 0; i < 40; i++) await lent.put("one", `dish-${i}`);
    const served: string[] = [];
    const informers = await watched();
    await using _ = controller({
      name: "menus",
      sources: [{ informer: informers.sources.maps }],
      workers: 1,
      reconcile: async (key) => void served.push(key.cluster),
      onError: ({ error }) => void failures.push(String(error)),
    });
    await until(() => served.length >= 41, { what: "everything is served" });
    expect(served.indexOf("default/two")).to.be.below(5);
    await informers[Symbol.asyncDispose]();
    told.length = 0;
    await lent.put("two", "menu", { soup: "unheard" });
    expect(told).to.eql([]);
    const closed = spaces.informers({ informers: { maps: mapsOf } });
    const over = closed.synced.catch(({ message }) => message);
    await closed[Symbol.asyncDispose]();
    expect(await over).to.match(/closed before they were synced/);
    expect(failures).to.eql([]);
  });
});
