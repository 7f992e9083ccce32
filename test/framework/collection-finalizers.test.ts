// In-process code of an author as the owner of finalizers, like a controller.
import { allow, defineVirtualWorkspace } from "@virtual-workspaces/framework";
import { expect } from "chai";
import { Note } from "../_support/note.ts";
import { startPlain } from "../_support/plain.ts";

const NOTES = "/services/notes/clusters/root/apis/test.dev/v1/notes";
const HELD = ["example.dev/cleanup"];

describe("finalizers of in-process code", () => {
  it("delay a client's delete until they are removed; watches get both events", async () => {
    const notes = Note.collection();
    const here = notes.in("root");
    const resources = [Note.serve(notes)];
    const path = "/clusters/:cluster";
    await using server = await startPlain([
      defineVirtualWorkspace({ name: "notes", path, authorize: () => allow(), resources }),
    ]);
    const { metadata } = here.set("a", { text: "held" }, { finalizers: HELD });
    await using watch = await server.watch(`${NOTES}?watch=true&resourceVersion=${metadata.resourceVersion}`);
    const deleted = await server.send(`DELETE ${NOTES}/a`);
    expect(deleted.body.metadata.finalizers).to.deep.equal(HELD);
    expect(here.set("a", { text: "cleaned" }).metadata.deletionTimestamp).to.be.a("string");
    expect(here.get("a")?.metadata.finalizers).to.deep.equal(HELD);
    here.set("a", { text: "cleaned" }, { finalizers: [] });
    expect(here.get("a")).to.equal(undefined);
    expect(await watch.take(3)).to.deep.equal(["MODIFIED a", "MODIFIED a", "DELETED a"]);
  });

  it("are kept when a write omits them, and equal ones are no change", () => {
    const here = Note.collection().in("root");
    const first = here.set("a", { text: "x" }, { finalizers: HELD });
    expect(here.set("a", { text: "x" }, { finalizers: HELD }).metadata.resourceVersion).to.equal(
      first.metadata.resourceVersion,
    );
    expect(here.set("a", { text: "y" }).metadata.finalizers).to.deep.equal(HELD);
    const without = here.set("a", { text: "y" }, { finalizers: [] });
    expect(without.metadata).not.to.have.property("finalizers");
    expect(here.set("a", { text: "y" }, { finalizers: [] }).metadata).to.deep.equal(without.metadata);
    expect(here.delete("a")).to.equal(true);
    expect(here.get("a")).to.equal(undefined);
  });
});
