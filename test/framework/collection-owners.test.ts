// Field ownership of in-process code beside clients.
import { allow, defineResource, defineVirtualWorkspace } from "@virtual-workspaces/framework";
import { expect } from "chai";
import { APPLY } from "../_support/patches.ts";
import { startPlain } from "../_support/plain.ts";

const Note = defineResource({
  group: "example.dev",
  version: "v1",
  kind: "Note",
  scope: "Cluster",
  spec: { type: "object", properties: { text: { type: "string" }, size: { type: "integer" } } },
  status: { type: "object", properties: { seen: { type: "boolean" } } },
});
const NOTES = "/services/notes/clusters/root/apis/example.dev/v1/notes";
const config = (text: string): string =>
  JSON.stringify({ apiVersion: "example.dev/v1", kind: "Note", metadata: { name: "a" }, spec: { text } });

describe("fields set by in-process code", () => {
  it("are owned by it from then on: a client that applied them gets a conflict, and can force", async () => {
    const notes = Note.collection();
    const here = notes.in("root");
    const resources = [Note.serve(notes)];
    const view = defineVirtualWorkspace({
      name: "notes",
      path: "/clusters/:cluster",
      authorize: () => allow(),
      resources,
    });
    await using server = await startPlain([view]);
    expect((await server.send(`PATCH ${NOTES}/a?fieldManager=client`, config("one"), APPLY)).status).to.equal(201);
    here.set("a", { text: "two", size: 1 });
    here.setStatus("a", { seen: true });
    const managers = (await server.get(`${NOTES}/a`)).body.metadata.managedFields.map(
      (entry: { manager: string; subresource?: string; fieldsV1: object }) => [
        entry.manager,
        entry.subresource ?? "",
        Object.keys(entry.fieldsV1),
      ],
    );
    expect(managers).to.deep.equal([
      ["virtual-workspaces", "", ["f:spec"]],
      ["virtual-workspaces", "status", ["f:status"]],
    ]);
    const refused = await server.send(`PATCH ${NOTES}/a?fieldManager=client`, config("three"), APPLY);
    expect([refused.status, refused.body.details.causes[0].message]).to.deep.equal([
      409,
      'conflict with "virtual-workspaces" using example.dev/v1',
    ]);
    const forced = await server.send(`PATCH ${NOTES}/a?fieldManager=client&force=true`, config("three"), APPLY);
    expect(forced.body.spec).to.deep.equal({ text: "three", size: 1 });
    expect(forced.body.status).to.deep.equal({ seen: true });
  });

  it("have no owner until a client writes", async () => {
    const notes = Note.collection();
    notes.in("root").set("a", { text: "one" });
    expect(notes.in("root").set("a", { text: "two" }).metadata.managedFields).to.equal(undefined);
  });
});
