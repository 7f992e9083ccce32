// A reload while requests wait for their turn behind one that keeps the process busy: the server answers each of them.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { Wire } from "../_support/wire.ts";
import { Dev } from "./support/dev.ts";

const NOTES = "/services/note/clusters/root/apis/test.dev/v1/notes";

/** Answers the first request so slowly that the next one waits, and the process receives the message to finish. */
const BUSY = `
import { authenticated, defineResource, defineVirtualWorkspace } from "@virtual-workspaces/framework";
const Note = defineResource({ group: "test.dev", version: "v1", kind: "Note", scope: "Cluster", spec: { type: "object" } });
const storage = {
  get: (scope, { name }) => {
    if (name === "busy") {
      setImmediate(() => process.emit("message", { type: "finish", patience: 60_000 }));
      for (const until = performance.now() + 200; performance.now() < until; );
    }
    return { apiVersion: "test.dev/v1", kind: "Note", metadata: { name }, spec: {} };
  },
};
export default defineVirtualWorkspace({
  name: "note", path: "/clusters/:cluster", authorize: authenticated(), resources: [Note.serve(storage)],
});
`;

describe("virtual-workspaces dev during a shutdown", function () {
  this.timeout(30_000);

  it("answers requests that wait for their turn first", async () => {
    await using dev = await Dev.start({ files: { "note.ts": BUSY } });
    const [ca, cert, key] = ["ca.crt", "admin.crt", "admin.key"].map((name) => readFileSync(join(dev.state, name)));
    using wire = await Wire.open(Number(new URL(dev.url).port), { tls: { ca, cert, key } });
    // In one piece: the server reads the second in the same turn of the event loop as the first.
    wire.send(["busy", "next"].map((name) => `GET ${NOTES}/${name} HTTP/1.1\r\nHost: x\r\n\r\n`).join(""));
    for (const name of ["busy", "next"]) {
      const answer = await wire.answer();
      expect(answer?.status, answer?.body.toString()).to.equal(200);
      expect(JSON.parse(answer?.body.toString() ?? "").metadata.name).to.equal(name);
    }
  });
});
