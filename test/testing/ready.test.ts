// A test server is ready when `startTestServer` returns: views that read a source first, and views that never are ready.
import { allow, defineVirtualWorkspace, polled, type VirtualWorkspace } from "@virtual-workspaces/framework";
import { startTestServer } from "@virtual-workspaces/testing";
import { expect } from "chai";
import { testLog } from "../_setup/log.ts";
import { Note } from "../_support/note.ts";

/** View of a source whose first read ends when the test says so. */
function polledNotes(read: () => Promise<void>) {
  const notes = polled({
    collection: Note.collection(),
    cluster: "root",
    every: 60_000,
    read: async () => {
      await read();
      return [{ metadata: { name: "a" }, spec: { text: "read" } }];
    },
  });
  return defineVirtualWorkspace({
    ...{ name: "notes", path: "/clusters/:cluster", authorize: () => allow(), ready: notes.ready },
    resources: [Note.serve(notes)],
    setup: (context) => notes.start(context),
  });
}

const NOTES = "/services/notes/clusters/root/apis/test.dev/v1/notes";

describe("startTestServer", function () {
  this.timeout(30_000);

  it("returns when a polled source has been read", async () => {
    const gate = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    const view = polledNotes(() => {
      begun.resolve();
      return gate.promise;
    });
    let isReady = false;
    const starting = startTestServer([view], { log: testLog().log }).then((server) => {
      isReady = true;
      return server;
    });
    await begun.promise;
    expect(isReady).to.equal(false);
    gate.resolve();
    await using server = await starting;
    const headers = { authorization: `Bearer ${server.credentials.token}` };
    expect((await fetch(`${server.url}${NOTES}`, { headers })).status).to.equal(200);
  });

  const never = (): VirtualWorkspace => polledNotes(() => new Promise(() => undefined));
  const log = (): { log: ReturnType<typeof testLog>["log"] } => ({ log: testLog().log });
  const forms = {
    "views alone": (readyWithin: number) => startTestServer([never()], { ...log(), readyWithin }),
    "an API server with views": (readyWithin: number) =>
      startTestServer({ virtualWorkspaces: [never()], tls: false, readyWithin }),
  };
  for (const [form, start] of Object.entries(forms)) {
    it(`of ${form} rejects with the name of a view that is not ready in time`, async () => {
      const error = await start(1).then(
        () => undefined,
        (thrown: Error) => thrown.message,
      );
      expect(error).to.equal(
        "the test server is not ready after 1 ms, because of notes: look at the ready hook of the view, or set readyWithin",
      );
    });

    it(`of ${form} does not wait if readyWithin is 0`, async () => {
      await using server = await start(0);
      expect((await fetch(`${server.url}/readyz/notes`)).status).to.not.equal(200);
    });
  }
});
