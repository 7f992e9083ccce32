// Several processes as one server: clients that reach another process with each request see no difference.
import { expect } from "chai";
import { createAuthority } from "../_support/server.ts";
import { labelOf, openWatch } from "../_support/web-socket.ts";
import { Fleet, ROOT } from "./support/fleet.ts";
import { minterOf, Notes } from "./support/fleet-client.ts";
import { ask } from "./support/views-of-workspaces.ts";

describe("virtual-workspaces serve --workers", function () {
  this.timeout(120_000);
  let fleet: Fleet;
  let notes: Notes;

  before(async () => {
    fleet = await Fleet.ready({ replicas: 1, workers: 2 });
    notes = new Notes(fleet);
  });

  after(async () => {
    await fleet?.[Symbol.asyncDispose]();
  });

  it("has one line of resource versions, whichever process answers", async () => {
    await fleet.workers();
    await notes.make("first");
    const lists = [];
    for (let turn = 0; turn < 6; turn++) lists.push((await notes.send("GET")).body);
    const versions = lists.map(({ metadata, items }) => [metadata.resourceVersion, ...items.map(versionOf)].join(" "));
    expect(new Set(versions).size).to.equal(1);
    expect(minterOf(lists[0] as never)).to.be.oneOf((await fleet.workers()).map(({ minter }) => minter));
  });

  it("accepts updates of objects, and watches of lists, that another process has read", async () => {
    await notes.make("second", "one");
    const { body } = await notes.send("GET", "/second");
    const list = (await notes.send("GET")).body.metadata.resourceVersion ?? "";
    const written = await notes.send("PUT", "/second", { ...body, spec: { text: "two" } });
    expect(written.code).to.equal(200);
    expect((await notes.send("PUT", "/second", { ...body, spec: { text: "three" } })).code).to.equal(409);
    for (let turn = 0; turn < 4; turn++)
      for await (const { type, object } of notes.watch(list)) {
        expect([type, object.metadata.resourceVersion]).to.deep.equal([
          "MODIFIED",
          written.body.metadata.resourceVersion,
        ]);
        break;
      }
  });

  it("sends the same events over WebSockets, whichever process accepts them", async () => {
    const sockets = await Promise.all(
      [1, 2, 3, 4].map(() =>
        openWatch(fleet.direct(""), `/services${Notes.PATH}?watch=1&fieldSelector=metadata.name%3Dlive`, {
          ca: fleet.ca,
          headers: ROOT,
        }),
      ),
    );
    await notes.make("live");
    for (const socket of sockets) {
      expect(labelOf(await socket.next())).to.equal("ADDED live");
      socket[Symbol.dispose]();
    }
  });

  it("serves all pages of a list at one version", async () => {
    await notes.make("third");
    const first = (await notes.send("GET", "?limit=1")).body;
    const more = encodeURIComponent(String((first.metadata as { continue?: string }).continue));
    for (let turn = 0; turn < 4; turn++) {
      const { code, body } = await notes.send("GET", `?limit=1&continue=${more}`);
      expect([code, body.metadata.resourceVersion]).to.deep.equal([200, first.metadata.resourceVersion]);
    }
  });

  it("answers 410 to versions of a process that has ended, and loses nothing", async () => {
    const { metadata } = (await notes.send("GET")).body;
    const version = metadata.resourceVersion ?? "";
    const watch = notes.watch(version);
    const event = watch.next();
    const worker = (await fleet.workers()).find(({ minter }) => minter === minterOf({ metadata }));
    process.kill(worker?.pid ?? 0, "SIGKILL");
    expect(await event).to.deep.equal({ done: true, value: undefined });
    // The request may go to the dying process, which leaves its result unknown.
    for (let code = 0; code !== 201 && code !== 409; ) code = (await notes.make("meanwhile")).code;
    for await (const { type, object } of notes.watch(version))
      expect([type, object.code]).to.deep.equal(["ERROR", 410]);
    const list = await notes.send("GET");
    expect(list.body.items.map(({ metadata }) => metadata.name)).to.include("meanwhile");
    expect((await notes.send("GET", `?resourceVersion=${version}&resourceVersionMatch=Exact`)).code).to.equal(410);
    expect((await fleet.workers()).map(({ pid }) => pid)).to.not.include(worker?.pid);
  });

  it("rejects clients that pose as workers", async () => {
    const stranger = createAuthority().client("worker.virtual-workspaces.internal", []);
    const replica = fleet.authority.client("worker.virtual-workspaces.internal", []);
    const home = await notes.home();
    const away = (await fleet.workers()).find(({ minter }) => minter !== home)?.minter;
    const forged = { "x-remote-user": "shard-root", "x-remote-group": "system:masters" };
    for (const [certificate, message] of [
      [{}, ANONYMOUS],
      [stranger, "Unauthorized"],
      [replica, "Unauthorized"],
    ] as const)
      for (const meant of [home, away]) {
        const whom = { "x-virtual-workspaces-peer": String(meant) };
        const at = { ca: fleet.ca, ...certificate };
        const url = fleet.direct(`/services${Notes.PATH}`);
        const nobody = await ask(url, { ...at, headers: { ...forged, ...whom } });
        expect(JSON.parse(nobody.body).message).to.equal(message);
        const { body } = await ask(url, { ...at, headers: { ...ROOT, ...forged, ...whom } });
        expect(minterOf(JSON.parse(body))).to.equal(home);
      }
  });

  it("ends cleanly", async () => {
    const { metadata } = (await notes.send("GET")).body;
    const watch = notes.watch(metadata.resourceVersion ?? "");
    const ended = watch.next();
    await notes.make("last");
    expect((await ended).value?.type).to.equal("ADDED");
    const rest = watch.next();
    const [replica] = fleet.replicas;
    replica?.signal("SIGTERM");
    expect(await rest).to.deep.equal({ done: true, value: undefined });
    expect(await replica?.ended).to.deep.equal({ code: 0, signal: null });
    expect(
      replica?.stderr
        .split("\n")
        .filter((line) => line !== "" && !/worker ended|peer failed|identity ignored/.test(line)),
    ).to.deep.equal([]);
  });
});

const ANONYMOUS =
  'notes.example.dev is forbidden: User "system:anonymous" cannot list resource "notes" in API group "example.dev" in the namespace "default": log in first';

function versionOf({
  metadata,
}: {
  readonly metadata: { readonly name?: string; readonly resourceVersion?: string };
}): string {
  return `${metadata.name}@${metadata.resourceVersion}`;
}
