import { expect } from "chai";
import { Note } from "../_support/note.ts";

describe("objects of a collection", () => {
  // In a shared pool, one retained object would keep all its deleted neighbors in memory.
  it("have memory of their own", () => {
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
