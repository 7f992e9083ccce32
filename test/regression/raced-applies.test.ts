// When two clients applied a missing object, the slower one got AlreadyExists, which an apply must not return.
import { allow, defineVirtualWorkspace, view, type WritableSource } from "@virtual-workspaces/framework";
import { expect } from "chai";
import { Note } from "../_support/note.ts";
import { APPLY } from "../_support/patches.ts";
import { startPlain } from "../_support/plain.ts";

type Content = { spec: { text?: string } };
const NOTE = "/services/notes/apis/test.dev/v1/notes/a?fieldManager=slow&force=true";

describe("an apply of an object that another client creates meanwhile", () => {
  it("applies to that object", async () => {
    const notes = Note.collection();
    let creates = 0;
    const raced: WritableSource<Content> = {
      resource: Note,
      cache: () => notes.cache(),
      shareKey: () => "",
      create: (scope, object) => {
        creates += 1;
        notes.in("").set("a", { text: "quick" });
        return notes.create(scope, object);
      },
      update: (scope, object) => notes.update(scope, object),
      delete: () => {
        throw new Error("nothing is deleted here");
      },
    };
    const resources = [Note.serve(view({ from: raced, mapToSource: (note) => note }))];
    const served = defineVirtualWorkspace({ name: "notes", path: "/", authorize: () => allow(), resources });
    await using server = await startPlain([served]);
    const note = { apiVersion: "test.dev/v1", kind: "Note", metadata: { name: "a" }, spec: { text: "slow" } };
    const { status, body } = await server.send(`PATCH ${NOTE}`, note, APPLY);
    expect([status, body.spec?.text, creates], body.message).to.deep.equal([200, "slow", 1]);
    expect(body.metadata.managedFields).to.have.lengthOf.at.least(1);
  });
});
