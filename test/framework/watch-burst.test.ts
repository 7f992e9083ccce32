// A live watch hears of every change, however many come at once and however little of the past is kept.
import { allow, type Collection, defineVirtualWorkspace } from "@virtual-workspaces/framework";
import { expect } from "chai";
import { Note } from "../_support/note.ts";
import { type PlainServer, startPlain } from "../_support/plain.ts";

type Notes = Collection<{ spec: { text?: string } }>;

function serve(notes: Notes): Promise<PlainServer> {
  return startPlain([
    defineVirtualWorkspace({
      name: "notes",
      path: "/clusters/:cluster",
      wildcard: true,
      authorize: () => allow(),
      resources: [Note.serve(notes)],
    }),
  ]);
}

const path = (cluster: string): string => `/services/notes/clusters/${cluster}/apis/test.dev/v1/notes?watch=true`;
const added = (count: number): string[] => Array.from({ length: count }, (_, at) => `ADDED note-${at}`);

describe("bursts of changes", () => {
  it("of more events than the history keeps reach live watches, each once, in order", async () => {
    const notes = Note.collection({ history: { events: 8 } });
    await using server = await serve(notes);
    for (const cluster of ["root", "*"]) {
      await using watch = await server.watch(path(cluster));
      const names = added(100);
      for (let at = 0; at < 100; at++) notes.in("root").set(`note-${at}`, {});
      expect(await watch.take(100)).to.deep.equal(names);
      for (let at = 0; at < 100; at++) notes.in("root").delete(`note-${at}`);
      expect(await watch.take(100)).to.deep.equal(names.map((name) => name.replace("ADDED", "DELETED")));
    }
  });

  it("of more bytes than the history keeps reach live watches, each once, in order", async () => {
    const notes = Note.collection({ history: { bytes: 3000 } });
    await using server = await serve(notes);
    notes.in("root").set("note-0", { text: "first" });
    await using watch = await server.watch(path("root"));
    await watch.take(1);
    const texts = Array.from({ length: 20 }, (_, at) => `${at} `.repeat(300));
    for (const text of texts) notes.in("root").set("note-0", { text });
    const seen = [];
    while (seen.length < texts.length) seen.push((await watch.next()).object["spec"]);
    expect(seen).to.deep.equal(texts.map((text) => ({ text })));
  });

  it("elsewhere do not disturb the watch of a logical cluster where little happens", async () => {
    const notes = Note.collection({ history: { events: 8 } });
    await using server = await serve(notes);
    await using quiet = await server.watch(path("quiet"));
    for (let at = 0; at < 100; at++) notes.in("busy").set(`note-${at}`, {});
    notes.in("quiet").set("one", {});
    for (let at = 0; at < 100; at++) notes.in("busy").delete(`note-${at}`);
    notes.in("quiet").set("two", {});
    notes.in("quiet").delete("one");
    expect(await quiet.take(3)).to.deep.equal(["ADDED one", "ADDED two", "DELETED one"]);
  });
});
