// Each view in a stack retried a permanent conflict a hundred times, so three views tried a million times, and the server
// answered no other requests in the meantime.
import { ApiError } from "@virtual-workspaces/apimachinery";
import {
  allow,
  defineVirtualWorkspace,
  type ServedResource,
  view,
  type WritableSource,
} from "@virtual-workspaces/framework";
import { expect } from "chai";
import { Note } from "../_support/note.ts";
import { MERGE } from "../_support/patches.ts";
import { startPlain } from "../_support/plain.ts";

type Content = { spec: { text?: string } };
const NOTE = "/services/notes/apis/test.dev/v1/notes/a";

/** Returns `from` as shown by two views, one above the other. */
function twice(from: WritableSource<Content>): ServedResource {
  const below = view({ from, mapToSource: (note) => note });
  return Note.serve(view({ from: below, mapToSource: (note) => note }));
}

const start = (resource: ServedResource) =>
  startPlain([defineVirtualWorkspace({ name: "notes", path: "/", authorize: () => allow(), resources: [resource] })]);
const taken = () => ApiError.conflict({ group: "test.dev", resource: "notes" }, "a", "somebody has it");
const MESSAGE = 'Operation cannot be fulfilled on notes.test.dev "a": somebody has it';

describe("a permanent conflict", () => {
  it("is answered immediately when a view reports it", async () => {
    const notes = Note.collection();
    notes.in("").set("a", {});
    let asked = 0;
    const refusing = view({
      from: notes,
      mapToSource: () => {
        asked += 1;
        throw taken();
      },
    });
    await using server = await start(twice(refusing));
    const { status, body } = await server.send(`PATCH ${NOTE}`, { spec: { text: "x" } }, MERGE);
    expect([status, body.message, asked]).to.deep.equal([409, MESSAGE, 1]);
  });

  it("is not retried while the object stays the same, neither by the layer that writes to the storage nor by views above", async () => {
    const notes = Note.collection();
    notes.in("").set("a", {});
    const asked = { update: 0, delete: 0 };
    const refuse = (verb: keyof typeof asked) => (): never => {
      asked[verb] += 1;
      throw taken();
    };
    const busy: WritableSource<Content> = {
      resource: Note,
      cache: () => notes.cache(),
      shareKey: () => "",
      create: (scope, object) => notes.create(scope, object),
      update: refuse("update"),
      delete: refuse("delete"),
    };
    await using server = await start(twice(busy));
    const patched = await server.send(`PATCH ${NOTE}`, { spec: { text: "x" } }, MERGE);
    const deleted = await server.send(`DELETE ${NOTE}`);
    for (const { status, body } of [patched, deleted]) expect([status, body.message]).to.deep.equal([409, MESSAGE]);
    expect(asked).to.deep.equal({ update: 1, delete: 1 });
  });
});
