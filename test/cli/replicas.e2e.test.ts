// Replicas that know and trust only each other.
import { expect } from "chai";
import { createAuthority } from "../_support/server.ts";
import { Fleet, ROOT } from "./support/fleet.ts";
import { minterOf, Notes } from "./support/fleet-client.ts";
import { ask } from "./support/views-of-workspaces.ts";

describe("replicas of virtual-workspaces serve", function () {
  this.timeout(120_000);
  let fleet: Fleet;
  let notes: Notes;

  before(async () => {
    fleet = await Fleet.ready({ workers: 1 });
    notes = new Notes(fleet);
  });

  after(async () => {
    await fleet?.[Symbol.asyncDispose]();
  });

  it("share one line of resource versions", async () => {
    await notes.make("first");
    const versions = new Set<string>();
    for (let turn = 0; turn < 4; turn++) versions.add((await notes.send("GET")).body.metadata.resourceVersion ?? "");
    expect(versions.size).to.equal(1);
    for await (const { type } of notes.watch(await beforeSecond())) {
      expect(type).to.equal("ADDED");
      break;
    }
  });

  async function beforeSecond(): Promise<string> {
    const { metadata } = (await notes.send("GET")).body;
    await notes.make("second");
    return metadata.resourceVersion ?? "";
  }

  it("list their workers for replicas only, and accept identity headers from no other client", async () => {
    const root = { "x-remote-user": "shard-root", "x-remote-group": "system:masters" };
    const list = `/services${Notes.PATH}`;
    const replica = fleet.authority.client("replica", []);
    const stranger = createAuthority().client("replica", ["system:masters"]);
    for (const [certificate, code] of [
      [{}, 403],
      [stranger, 401],
    ] as const) {
      const at = { ca: fleet.ca, ...certificate, headers: root };
      for (const path of ["/peers", list]) expect((await ask(fleet.direct(path), at)).code).to.equal(code);
      if (code === 403) continue;
      const logged = { ...at, headers: { ...root, ...ROOT } };
      expect((await ask(fleet.direct("/peers"), logged)).code, "an administrator").to.equal(403);
    }
    const known = { ca: fleet.ca, ...replica, headers: root };
    expect((await ask(fleet.direct("/peers"), { ...known, headers: {} })).code).to.equal(401);
    expect((await ask(fleet.direct("/peers"), known)).code).to.equal(200);
    expect((await ask(fleet.direct(list), known)).code).to.equal(200);
  });

  it("do not forward forwarded requests to a replica, so that no request goes in circles", async () => {
    const home = await notes.home();
    const as = { ca: fleet.ca, ...fleet.authority.client("replica", []) };
    const headers = { "x-remote-user": "shard-root", "x-remote-group": "system:masters" };
    const given = [];
    for (const replica of [0, 1]) {
      const url = fleet.direct(`/services${Notes.PATH}`, replica);
      const { body } = await ask(url, { ...as, headers: { ...headers, "x-virtual-workspaces-peer": String(home) } });
      given.push(minterOf(JSON.parse(body)));
    }
    expect(given.filter((minter) => minter === home)).to.have.length(1);
  });

  it("continue when one is killed", async () => {
    const { metadata } = (await notes.send("GET")).body;
    const home = minterOf({ metadata });
    const { body } = await ask(fleet.direct("/peers"), {
      ...{ ca: fleet.ca, ...fleet.authority.client("replica", []), headers: { "x-remote-user": "system:replica" } },
    });
    const at = JSON.parse(body).members.some(({ minter }: { minter: number }) => minter === home) ? 0 : 1;
    await fleet.replicas[at]?.[Symbol.asyncDispose]();
    fleet.balancer.backends = fleet.wires.filter((_, other) => other !== at);
    const list = await notes.send("GET");
    expect([list.code, list.body.items.length]).to.deep.equal([200, 2]);
    for await (const { type, object } of notes.watch(metadata.resourceVersion ?? ""))
      expect([type, object.code]).to.deep.equal(["ERROR", 410]);
  });
});
