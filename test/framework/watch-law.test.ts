// Contract of watches. A watch that cannot continue ends with ERROR 410, one that is slow or drained ends cleanly, and one
// without a version is never stale.
import { compareResourceVersions } from "@virtual-workspaces/apimachinery/requests";
import { allow, type Collection, defineResource, defineVirtualWorkspace } from "@virtual-workspaces/framework";
import { expect } from "chai";
import { label, type PlainServer, startPlain } from "../_support/plain.ts";

const Note = defineResource({
  group: "test.dev",
  version: "v1",
  kind: "Note",
  scope: "Cluster",
  spec: { type: "object", required: ["n"], properties: { n: { type: "integer" }, big: { type: "string" } } },
  selectableFields: [".spec.n"],
});
const NOTES = "/services/notes/clusters/root/apis/test.dev/v1/notes";
const INITIAL = "watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";

function notesView(notes: Collection<{ spec: { n: number; big?: string } }>) {
  return defineVirtualWorkspace({
    name: "notes",
    path: "/clusters/:cluster",
    wildcard: true,
    authorize: () => allow(),
    resources: [Note.serve(notes)],
  });
}

async function version(server: PlainServer): Promise<string> {
  return (await server.get(NOTES)).body.metadata.resourceVersion;
}

describe("a watch", () => {
  describe("at its beginning", () => {
    it("without a version or at 0 sends the current objects, then changes", async () => {
      const notes = Note.collection();
      notes.in("root").set("a", { n: 1 });
      await using server = await startPlain([notesView(notes)]);
      for (const from of ["", "&resourceVersion=0", "&resourceVersion="]) {
        await using watch = await server.watch(`${NOTES}?watch=true${from}`);
        expect(await watch.take(1)).to.deep.equal(["ADDED a"]);
        notes.in("root").set("a", { n: Math.random() });
        expect(await watch.take(1)).to.deep.equal(["MODIFIED a"]);
      }
    });

    it("with sendInitialEvents=false sends only changes", async () => {
      const notes = Note.collection();
      notes.in("root").set("a", { n: 1 });
      await using server = await startPlain([notesView(notes)]);
      const query = "watch=true&sendInitialEvents=false&resourceVersionMatch=NotOlderThan";
      await using watch = await server.watch(`${NOTES}?${query}`);
      notes.in("root").set("b", { n: 1 });
      expect(await watch.take(1)).to.deep.equal(["ADDED b"]);
    });

    it("at a version sends exactly the later changes, deletions with their last state and version", async () => {
      const notes = Note.collection();
      notes.in("root").set("a", { n: 1 });
      await using server = await startPlain([notesView(notes)]);
      const from = await version(server);
      notes.in("root").set("b", { n: 2 });
      notes.in("root").set("a", { n: 3 });
      notes.in("root").delete("a");
      await using watch = await server.watch(`${NOTES}?watch=true&resourceVersion=${from}`);
      const events = [await watch.next(), await watch.next(), await watch.next()];
      expect(events.map(label)).to.deep.equal(["ADDED b", "MODIFIED a", "DELETED a"]);
      const [, modified, deleted] = events;
      expect(deleted?.object["spec"]).to.deep.equal({ n: 3 });
      expect(deleted?.object.metadata.resourceVersion).to.equal(await version(server));
      const versions = [modified, deleted].map((event) => event?.object.metadata.resourceVersion ?? "");
      expect(compareResourceVersions(versions[0] ?? "", versions[1] ?? "")).to.equal(-1);
    });

    it("without matching objects ends its initial events at once, and sends later objects", async () => {
      const notes = Note.collection();
      await using server = await startPlain([notesView(notes)]);
      await using watch = await server.watch(`${NOTES}?${INITIAL}`);
      const bookmark = await watch.next();
      expect(bookmark.type).to.equal("BOOKMARK");
      expect(bookmark.object.metadata.annotations).to.deep.equal({ "k8s.io/initial-events-end": "true" });
      expect(bookmark.object.metadata.resourceVersion).to.equal(await version(server));
      notes.in("root").set("late", { n: 1 });
      expect(await watch.take(1)).to.deep.equal(["ADDED late"]);
    });

    it("sends no bookmarks without a request for them", async () => {
      const notes = Note.collection();
      notes.in("root").set("a", { n: 1 });
      await using server = await startPlain([notesView(notes)], { bookmarkEvery: 5 });
      await using watch = await server.watch(`${NOTES}?${INITIAL.replace("&allowWatchBookmarks=true", "")}`);
      await using other = await server.watch(`${NOTES}?${INITIAL}`);
      await other.until(({ type, object }) => type === "BOOKMARK" && object.metadata.annotations === undefined);
      notes.in("root").set("b", { n: 1 });
      expect(await watch.take(2)).to.deep.equal(["ADDED a", "ADDED b"]);
    });
  });

  describe("at the limits of the history", () => {
    it("from a version outside the history gets 200, then ERROR 410", async () => {
      const notes = Note.collection({ history: { events: 4 } });
      await using server = await startPlain([notesView(notes)]);
      const from = await version(server);
      for (let n = 0; n < 6; n++) notes.in("root").set("a", { n });
      await using watch = await server.watch(`${NOTES}?watch=true&resourceVersion=${from}`);
      expect(watch.status).to.equal(200);
      const events = await watch.rest();
      expect(events.map(label)).to.deep.equal(["ERROR 410"]);
      expect(events[0]?.object.reason).to.equal("Expired");
    });

    it("from the oldest version in the history continues", async () => {
      const notes = Note.collection({ history: { events: 4 } });
      await using server = await startPlain([notesView(notes)]);
      const from = await version(server);
      for (let n = 0; n < 4; n++) notes.in("root").set("a", { n });
      await using watch = await server.watch(`${NOTES}?watch=true&resourceVersion=${from}`);
      expect(await watch.take(4)).to.deep.equal(["ADDED a", "MODIFIED a", "MODIFIED a", "MODIFIED a"]);
    });

    it("from a version of another minter gets 410, be it old, new or enormous", async () => {
      const notes = Note.collection();
      await using server = await startPlain([notesView(notes)]);
      const own = BigInt(await version(server));
      for (const foreign of [1n, own - 1n, own + 1n, own * 2n, 2n ** 64n - 1n]) {
        await using watch = await server.watch(`${NOTES}?watch=true&resourceVersion=${foreign}`);
        expect((await watch.rest()).map(label), String(foreign)).to.deep.equal(["ERROR 410"]);
        expect((await server.get(`${NOTES}?resourceVersion=${foreign}`)).status).to.equal(410);
      }
    });

    it("gets 410 for a version beyond the limit in bytes", async () => {
      const notes = Note.collection({ history: { bytes: 4000 } });
      await using server = await startPlain([notesView(notes)]);
      const from = await version(server);
      for (let n = 0; n < 8; n++) notes.in("root").set("a", { n, big: "x".repeat(1000) });
      await using watch = await server.watch(`${NOTES}?watch=true&resourceVersion=${from}`);
      expect((await watch.rest()).map(label)).to.deep.equal(["ERROR 410"]);
    });
  });

  describe("with selectors", () => {
    it("sends ADDED for an object that enters, DELETED with its last seen state for one that leaves", async () => {
      const notes = Note.collection();
      const root = notes.in("root");
      root.set("a", { n: 1 }, { labels: { team: "x" } });
      root.set("b", { n: 1 }, { labels: { team: "y" } });
      await using server = await startPlain([notesView(notes)]);
      await using watch = await server.watch(`${NOTES}?watch=true&labelSelector=team%3Dx`);
      root.set("b", { n: 2 }, { labels: { team: "x" } });
      root.set("a", { n: 2 }, { labels: { team: "y" } });
      root.set("b", { n: 3 }, {});
      root.delete("b");
      const events = [];
      for (let n = 0; n < 5; n++) events.push(await watch.next());
      expect(events.map(label)).to.deep.equal(["ADDED a", "ADDED b", "DELETED a", "MODIFIED b", "DELETED b"]);
      expect(events[2]?.object["spec"]).to.deep.equal({ n: 1 });
      expect(events[2]?.object.metadata.resourceVersion).to.equal(root.get("a")?.metadata.resourceVersion);
    });

    it("selects by field, by name, by logical cluster, and over all clusters", async () => {
      const notes = Note.collection();
      await using server = await startPlain([notesView(notes)]);
      await using byField = await server.watch(`${NOTES}?watch=true&fieldSelector=spec.n%3D7`);
      await using byName = await server.watch(`${NOTES}?watch=true&fieldSelector=metadata.name%3Dseven`);
      await using everywhere = await server.watch(`${NOTES.replace("root", "*")}?watch=true`);
      notes.in("other").set("seven", { n: 7 });
      notes.in("root").set("six", { n: 6 });
      notes.in("root").set("seven", { n: 7 });
      notes.in("root").set("seven", { n: 8 });
      expect(await byField.take(2)).to.deep.equal(["ADDED seven", "DELETED seven"]);
      expect(await byName.take(2)).to.deep.equal(["ADDED seven", "MODIFIED seven"]);
      expect(await everywhere.take(4)).to.deep.equal(["ADDED seven", "ADDED six", "ADDED seven", "MODIFIED seven"]);
    });

    it("sends DELETED and ADDED for another object of the same name, also when it resumes", async () => {
      const notes = Note.collection();
      const root = notes.in("root");
      root.set("a", { n: 1 });
      await using server = await startPlain([notesView(notes)]);
      const from = await version(server);
      root.delete("a");
      root.set("a", { n: 1 });
      await using watch = await server.watch(`${NOTES}?watch=true&resourceVersion=${from}`);
      expect(await watch.take(2)).to.deep.equal(["DELETED a", "ADDED a"]);
    });
  });

  describe("at its end", () => {
    it("after timeoutSeconds ends cleanly, with a last bookmark to resume from", async () => {
      const notes = Note.collection();
      await using server = await startPlain([notesView(notes)]);
      await using watch = await server.watch(`${NOTES}?${INITIAL}&timeoutSeconds=1`);
      await watch.next();
      notes.in("root").set("a", { n: 1 });
      const events = await watch.rest();
      expect(events.map(({ type }) => type)).to.deep.equal(["ADDED", "BOOKMARK"]);
      expect(events[1]?.object.metadata.resourceVersion).to.equal(await version(server));
    });

    it("on a closing server ends cleanly, and resumes at the next server of the same process", async () => {
      const notes = Note.collection();
      const first = await startPlain([notesView(notes)]);
      await using watch = await first.watch(`${NOTES}?${INITIAL}`);
      const bookmark = await watch.next();
      const closing = first[Symbol.asyncDispose]();
      expect((await watch.rest()).map(({ type }) => type)).to.deep.equal(["BOOKMARK"]);
      await closing;
      notes.in("root").set("meanwhile", { n: 1 });
      await using second = await startPlain([notesView(notes)]);
      const from = bookmark.object.metadata.resourceVersion;
      await using resumed = await second.watch(`${NOTES}?watch=true&resourceVersion=${from}`);
      expect(await resumed.take(1)).to.deep.equal(["ADDED meanwhile"]);
    });
  });

  it("sends bookmarks with the version of what it has sent, whatever its selector", async () => {
    const notes = Note.collection();
    await using server = await startPlain([notesView(notes)], { bookmarkEvery: 5 });
    await using watch = await server.watch(`${NOTES}?${INITIAL}&labelSelector=team%3Dnobody`);
    await watch.next();
    notes.in("root").set("a", { n: 1 });
    const now = await version(server);
    const seen = await watch.until(({ object }) => object.metadata.resourceVersion === now);
    expect(new Set(seen.map(({ type }) => type))).to.deep.equal(new Set(["BOOKMARK"]));
  });
});
