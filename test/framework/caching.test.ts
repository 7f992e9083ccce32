// What caches between server and client may store: public content with its hash in the URL.
import { allow, defineVirtualWorkspace } from "@virtual-workspaces/framework";
import { expect } from "chai";
import { Note } from "../_support/note.ts";
import { startPlain } from "../_support/plain.ts";

const BASE = "/services/notes/clusters/root";

describe("responses", () => {
  it("for a single caller must not be stored by shared caches; those with their hash in the URL may be", async () => {
    const notes = Note.collection();
    notes.in("root").set("a", {});
    const view = defineVirtualWorkspace({
      name: "notes",
      path: "/clusters/:cluster",
      authorize: () => allow(),
      resources: [Note.serve(notes)],
    });
    await using server = await startPlain([view]);
    const index = await server.get(`${BASE}/openapi/v3`);
    const hashed: string = index.body.paths["apis/test.dev/v1"].serverRelativeURL;
    const private_ = ["", "/api", "/apis", "/apis/test.dev/v1", "/version", "/openapi/v2", "/openapi/v3", "/nothing"];
    const objects = ["/apis/test.dev/v1/notes", "/apis/test.dev/v1/notes/a", "/apis/test.dev/v1/notes/b"];
    for (const path of [...private_, ...objects, "/openapi/v3/apis/test.dev/v1"].map((tail) => BASE + tail)) {
      const { headers } = await server.get(path);
      expect(headers["cache-control"], path).to.equal("no-cache, private");
    }
    for (const path of ["/apis", "/openapi/v3"].map((tail) => BASE + tail)) {
      const { headers } = await server.get(path);
      expect(headers.vary, path).to.equal("Accept");
      const again = await server.get(path, { headers: { "if-none-match": headers.etag ?? "" } });
      expect(again).to.include({ status: 304, text: "" });
      expect(again.headers["cache-control"]).to.equal("no-cache, private");
    }
    expect((await server.get(hashed)).headers["cache-control"]).to.equal("public, immutable");
  });
});
