// A view that forwards some requests unchanged and interprets the others.
import { allow, defineVirtualWorkspace } from "@virtual-workspaces/framework";
import { expect } from "chai";
import { Note } from "../_support/note.ts";
import { startPlain } from "../_support/plain.ts";

describe("handles", () => {
  it("forwards tails unchanged, and rejects interpreted paths that are ambiguous", async () => {
    const view = defineVirtualWorkspace({
      name: "raw",
      path: "/at/:place",
      authorize: () => allow(),
      resources: [Note.serve(Note.collection())],
      handleWhen: ({ path }) => path.startsWith("/files"),
      handle: (_, res, { tail }) => void res.end(tail),
    });
    await using server = await startPlain([view]);
    const ask = (tail: string) => server.get(`/services/raw/at/here${tail}`);
    for (const tail of ["/files//a", "/files/a%2Fb", "/files/a%5Cb"]) expect((await ask(tail)).text).to.equal(tail);
    for (const tail of ["//files", "/apis/test.dev/v1//notes", "/apis/test.dev/v1/notes/a%2Fb", "//clusters/x/apis"])
      expect((await ask(tail)).body, tail).to.include({ kind: "Status", code: 400 });
  });
});
