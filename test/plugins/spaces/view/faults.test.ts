// Why: when one of several Spaces fails, the response names it, and nothing looks deleted.
import { expect } from "chai";
import { faults, startFaulty } from "../../../_support/faulty.ts";
import { label, type WatchStream } from "../../../_support/plain.ts";
import { Lent } from "../support/lent.ts";
import { PlainSpace, plainMaps } from "../support/plain-space.ts";
import { type Listed, MAPS, SPACE, Viewed } from "../support/viewed.ts";

const MENUS = `${MAPS}?fieldSelector=metadata.name%21%3Dkube-root-ca.crt`;

describe("one failing or changing Space of several", function () {
  this.timeout(60_000);
  let lent: Lent;
  let viewed: Viewed | undefined;
  let plain: PlainSpace;

  before(async () => {
    lent = await Lent.start("one", "two");
    plain = await PlainSpace.lend(lent, "plain");
    await lent.put("one", "menu", { soup: "leek" });
    await lent.put("two", "menu", { soup: "pea" });
    plain.put("menu", "nettle");
  });
  after(async () => {
    await plain?.[Symbol.asyncDispose]();
    await lent?.[Symbol.asyncDispose]();
  });
  afterEach(async () => {
    await viewed?.[Symbol.asyncDispose]();
    viewed = undefined;
    plain.up();
    for (const space of ["one", "two"]) lent.up(space);
  });

  const ALL = ["default/one menu", "default/plain menu", "default/two menu"];

  async function view(options: Parameters<typeof Viewed.over>[1] = {}): Promise<Viewed> {
    viewed = await Viewed.over(lent, options);
    await viewed.engaged(3);
    return viewed;
  }

  /** Lists all objects and watches from then on. */
  async function watched(of: Viewed): Promise<WatchStream> {
    const { body } = await of.get(MENUS);
    expect(body.items.map(placed)).to.have.members(ALL);
    return of.watch(`${MENUS}&watch=1&resourceVersion=${body.metadata.resourceVersion}`);
  }

  const placed = ({ metadata: { name, annotations } }: Listed): string => `${annotations?.[SPACE]} ${name}`;
  const told = async (watch: WatchStream): Promise<string> => {
    const event = await watch.next();
    return `${label(event)} of ${event.object.metadata.annotations?.[SPACE]}`;
  };

  it("is named; its objects stay, and changes of the others are reported meanwhile", async () => {
    const spaces = await view();
    await using watch = await watched(spaces);
    plain.down();
    const { body, headers } = await spaces.get(MENUS);
    expect(body.items.map(placed)).to.have.members(ALL);
    expect(headers["warning"]).to.match(/source default\/plain has not been reachable since/);
    await lent.put("one", "bread");
    expect(await told(watch)).to.equal("ADDED bread of default/one");
    plain.put("menu", "sorrel");
    plain.up();
    expect(await told(watch)).to.equal("MODIFIED menu of default/plain");
    await lent.take("one", "bread");
    expect(await told(watch)).to.equal("DELETED bread of default/one");
  });

  it("without history after an outage causes events for the differences only", async () => {
    const spaces = await view();
    await using watch = await watched(spaces);
    plain.down();
    plain.put("dinner", "beet");
    for (let n = 0; n < 20; n++) plain.put("menu", `soup ${n}`);
    plain.take("menu");
    plain.put("wine", "red");
    plain.up();
    const events = [await told(watch), await told(watch), await told(watch)];
    expect(events).to.have.members([
      "ADDED dinner of default/plain",
      "ADDED wine of default/plain",
      "DELETED menu of default/plain",
    ]);
    for (const name of ["dinner", "wine"]) plain.take(name);
    plain.put("menu", "nettle");
    await watch.take(3);
  });

  it("unreachable from the start blocks lists, which would otherwise show its objects as deleted", async () => {
    plain.down();
    const spaces = await view({ patience: 200 });
    const { status, body } = await spaces.get(MENUS);
    expect([status, body.message]).to.eql([
      503,
      "source default/plain of configmaps cannot be reached for now: try again",
    ]);
    expect((await spaces.get(MENUS, "*/two")).status).to.equal(200);
    await spaces[Symbol.asyncDispose]();
    const partial = await view({ patience: 200, partial: "always" });
    const some = await partial.get(MENUS);
    expect(some.body.items.map(placed)).to.eql(["default/one menu", "default/two menu"]);
    expect(some.headers["warning"]).to.include("default/plain");
    plain.up();
  });

  it("counts as unreachable once it is unusable, also after a restart of the view", async () => {
    const first = await view();
    expect(await first.names(MENUS)).to.have.members(ALL);
    await lent.conceal("two");
    await first.engaged(2);
    // Open watches continue.
    expect(await first.names(MENUS)).to.have.members(ALL);
    const one = await first.get(MENUS, "-/two");
    expect([one.status, one.body.message]).to.have.ordered.members([
      503,
      one.body.message.match(/^space default\/two is not available: .*external-two.*$/)?.[0],
    ]);
    await first[Symbol.asyncDispose]();
    viewed = await Viewed.over(lent, { patience: 200 });
    await viewed.engaged(2);
    const again = await viewed.get(MENUS);
    expect([again.status, again.body.message]).to.eql([
      503,
      "source default/two of configmaps cannot be reached for now: try again",
    ]);
    await lent.rotate("two", "root");
    await viewed.engaged(3);
    expect(await viewed.names(MENUS)).to.have.members(ALL);
  });

  it("loses nothing while its credential is revoked and replaced", async () => {
    const spaces = await view();
    await using watch = await watched(spaces);
    await lent.rotate("one", "nobody-knows-this");
    lent.wires.get("one")?.cut();
    await lent.put("one", "menu", { soup: "onion" });
    const { headers } = await spaces.get(MENUS);
    expect(headers["warning"]).to.match(/source default\/one has not been reachable/);
    expect((await spaces.get(MENUS, "-/one")).status).to.equal(503);
    await lent.rotate("one", "root");
    expect(await told(watch)).to.equal("MODIFIED menu of default/one");
  });

  it("without a response delays a reader up to the time limit, and no events of others", async () => {
    const spaces = await view({ patience: 300 });
    await using watch = await watched(spaces);
    await lent.silence("two");
    const { body, headers } = await spaces.get(MENUS);
    expect(body.items.map(placed)).to.have.members(ALL);
    expect(headers["warning"]).to.include("source default/two has not been reachable");
    await lent.put("one", "bread");
    expect(await told(watch)).to.equal("ADDED bread of default/one");
    lent.up("two");
    lent.wires.get("two")?.cut();
    await lent.put("two", "bread");
    expect(await told(watch)).to.equal("ADDED bread of default/two");
    for (const space of ["one", "two"]) await lent.take(space, "bread");
    await watch.take(2);
  });

  it("may fail and recover repeatedly without repeated or lost events", async () => {
    const spaces = await view();
    await using watch = await watched(spaces);
    for (let n = 0; n < 12; n++) {
      if (n % 3 === 0) plain.down();
      plain.put(`dish-${n}`, "x");
      if (n % 3 === 2) plain.up();
    }
    const events = await watch.take(12);
    expect(events).to.have.members(Array.from({ length: 12 }, (_, n) => `ADDED dish-${n}`));
    for (let n = 0; n < 12; n++) plain.take(`dish-${n}`);
    expect(await watch.take(12)).to.have.members(Array.from({ length: 12 }, (_, n) => `DELETED dish-${n}`));
  });

  it("created again is another one: the objects of its predecessor are deleted first", async () => {
    const spaces = await view();
    await using watch = await watched(spaces);
    await lent.remove("two");
    expect(await told(watch)).to.equal("DELETED menu of default/two");
    await lent.management.make("default", "two", { Type: "imported" });
    const added = await watch.next();
    expect(label(added)).to.equal("ADDED menu");
    expect(added.object.metadata.annotations?.[SPACE]).to.equal("default/two");
    const { body } = await spaces.get(MENUS);
    expect(body.items.map(placed)).to.have.members(ALL);
    expect(spaces.failures).to.eql([]);
  });

  it("is waited for by the first readers after it is added, which would otherwise find no kinds", async () => {
    await using alone = await Lent.start();
    await using empty = await Viewed.over(alone);
    expect((await empty.get(MENUS)).status).to.equal(404);
    await using wire = await startFaulty(lent.management.server.url);
    const held = Promise.withResolvers<void>();
    // The manager only requests /apis.
    wire.fail(faults.delay(held.promise), { on: /^GET \S*\/api(\?|$)/ });
    const kubeconfig = lent.management.kubeconfig("root:one", "root", wire.url);
    for (const scope of ["incluster", "external"]) await alone.management.keep(`${scope}-late`, { kubeconfig });
    await alone.management.make("default", "late", { Type: "imported" });
    await empty.engaged(1);
    let isAnswered = false;
    const answer = empty.get(MENUS).finally(() => {
      isAnswered = true;
    });
    await wire.until(({ requests }) => requests.some(({ path }) => /\/api(\?|$)/.test(path)));
    expect((await empty.server.get("/livez")).status).to.equal(200);
    expect(isAnswered).to.equal(false);
    held.resolve();
    expect((await answer).status).to.equal(200);
  });

  it("appears in open watches once after it is added, while other requests are served", async () => {
    const spaces = await view();
    await using watch = await watched(spaces);
    await lent.lend("three");
    await lent.put("three", "menu", { soup: "egg" });
    expect(await told(watch)).to.equal("ADDED menu of default/three");
    await lent.giveBack("three");
    expect(await told(watch)).to.equal("DELETED menu of default/three");
  });

  it("has no objects to miss if it was never ready", async () => {
    await lent.management.provide("slow", { type: "nobody" });
    await lent.management.make("default", "never", { SpaceProviderDescName: "slow" });
    const spaces = await view();
    expect(await spaces.names(MENUS)).to.have.members(ALL);
    await lent.remove("never");
  });

  it("with another kind under a name is ignored if most Spaces agree on it", async () => {
    await using strange = await PlainSpace.lend(lent, "a-strange", plainMaps("Strange"));
    strange.put("menu", "dust");
    viewed = await Viewed.over(lent);
    await viewed.engaged(4);
    expect(await viewed.names(MENUS)).to.have.members(ALL);
    expect((await viewed.get("/api/v1")).body.resources.map(({ kind }: { kind: string }) => kind)).to.not.include(
      "Strange",
    );
    await lent.remove("a-strange");
  });
});
