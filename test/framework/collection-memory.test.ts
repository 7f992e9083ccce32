import { expect } from "chai";
import { Note } from "../_support/note.ts";

describe("a collection's objects", () => {
  // In a pool, one that stays would hold on to all that stood beside it and are gone.
  it("are kept in memory of their own", () => {
    const notes = Note.collection();
    const { cache } = notes.cache();
    for (const text of ["", "short", "é€😀".repeat(100), "x".repeat(10_000)]) {
      notes.in("").set("a", { text });
      const { bytes } = cache.get({ cluster: "", namespace: "", name: "a" }) ?? expect.fail("it is not there");
      expect(bytes.buffer.byteLength).to.equal(bytes.length);
      expect(JSON.parse(bytes.toString()).spec.text).to.equal(text);
    }
    notes.in("").delete("a");
  });
});
