// Imported Spaces that their access has not reached: lists leave them out at once and name them in a warning, with the reason.
import { expect } from "chai";
import { label } from "../../../_support/plain.ts";
import { makeWorkspace } from "../../../workspace-server/support/logical-clusters.ts";
import { Lent } from "../support/lent.ts";
import { conditionOf, isReady } from "../support/management.ts";
import { type Listed, MAPS, SPACE, Viewed } from "../support/viewed.ts";

const MENUS = `${MAPS}?fieldSelector=metadata.name%21%3Dkube-root-ca.crt`;
const SECRETS = "/api/v1/namespaces/default/secrets";
/** A test that waits for it has failed. */
const patience = 50_000;

describe("an imported Space that its access has not reached", function () {
  this.timeout(40_000);
  let lent: Lent;
  let viewed: Viewed;

  before(async () => {
    lent = await Lent.start("one", "two");
    for (const space of ["one", "two"]) await lent.put(space, "menu", { soup: "pea" });
  });
  after(() => lent?.[Symbol.asyncDispose]());
  afterEach(() => viewed?.[Symbol.asyncDispose]());

  const placed = ({ metadata: { name, annotations } }: Listed): string => `${annotations?.[SPACE]} ${name}`;
  const BOTH = ["default/one menu", "default/two menu"];

  async function view(): Promise<void> {
    viewed = await Viewed.over(lent, { patience });
    await viewed.engaged(2);
  }

  /** Creates a Space with a wrong token, and waits until its manager knows. */
  async function lendBad(name: string): Promise<void> {
    await lent.show(name, "wrong-token");
    await lent.management.make("default", name, { Type: "imported" });
    await untilReason(name, "False CredentialRefused");
  }

  const untilReason = (name: string, reason: string) =>
    lent.management.until("default", name, (space) => conditionOf(space, "Ready") === reason);

  it("is left out of lists of all, which answer at once, and is added once it is reached", async () => {
    await view();
    await lendBad("three");
    const { status, body, headers } = await viewed.get(MENUS);
    expect([status, body.items?.map(placed)]).to.eql([200, BOTH]);
    const why = "CredentialRefused: the target rejects the credential of the Secret: renew it";
    expect(headers["warning"]).to.equal(`299 - "source default/three is left out: ${why}"`);
    const absent = await viewed.get(`${MAPS}/none`);
    expect(absent.status).to.equal(404);
    // Its own path answers with the reason.
    const own = await viewed.get(MENUS, "-/three");
    expect([own.status, own.body.message]).to.eql([503, `space default/three is not available: ${why}`]);
    expect(own.text + headers["warning"]).to.not.include("wrong-token");
    await using watch = await viewed.watch(`${MENUS}&watch=1&resourceVersion=${body.metadata.resourceVersion}`);
    await makeWorkspace(lent.management.server, "three");
    await lent.rotate("three", "root");
    await lent.put("three", "menu", { soup: "egg" });
    const event = await watch.next();
    expect([label(event), event.object.metadata.annotations?.[SPACE]]).to.eql(["ADDED menu", "default/three"]);
    const all = await viewed.get(MENUS);
    expect([all.body.items.map(placed), all.headers["warning"]]).to.eql([
      [...BOTH.slice(0, 1), "default/three menu", ...BOTH.slice(1)],
      undefined,
    ]);
    await lent.giveBack("three");
  });

  it("is left out after a restart of the view", async () => {
    await lendBad("four");
    await view();
    const { status, body, headers } = await viewed.get(MENUS);
    expect([status, body.items?.map(placed)]).to.eql([200, BOTH]);
    expect(headers["warning"]).to.include("source default/four is left out: CredentialRefused: ");
    await lent.remove("four");
  });

  it("is left out without a Secret", async () => {
    await lent.management.make("default", "five", { Type: "imported", accessscopetype: "External" });
    await untilReason("five", "False AccessMissing");
    await view();
    const { status, headers } = await viewed.get(MENUS);
    expect(status).to.equal(200);
    expect(headers["warning"]).to.include("source default/five is left out: AccessMissing: ");
    await lent.remove("five");
  });

  it("keeps known objects after a change to a wrong credential, and is left out of kinds that were never read", async () => {
    await view();
    expect((await viewed.get(MENUS)).body.items.map(placed)).to.eql(BOTH);
    await lent.rotate("two", "wrong-token");
    await untilReason("two", "False CredentialRefused");
    await viewed.engaged(1);
    expect((await viewed.get(MENUS)).body.items.map(placed)).to.eql(BOTH);
    // The previous credential ends, too.
    await lent.silence("two");
    const { status, headers } = await viewed.get(SECRETS);
    expect(status).to.equal(200);
    expect(headers["warning"]).to.include("source default/two is left out: ");
    expect((await viewed.get(MENUS)).body.items.map(placed)).to.eql(BOTH);
    lent.up("two");
    lent.wires.get("two")?.cut();
    await lent.rotate("two", "root");
    await lent.management.until("default", "two", isReady);
  });
});
