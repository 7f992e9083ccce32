// Names of objects from arbitrary keys.
import { nameProblems } from "@virtual-workspaces/apimachinery";
import { objectName } from "@virtual-workspaces/framework";
import { expect } from "chai";
import fc from "fast-check";
import { computed, slowness } from "../_support/cpu.ts";

/** Keys of any kind, and keys that differ little from one another. */
const KEY = fc.oneof(
  fc.string({ unit: "binary", maxLength: 300 }),
  fc.string({ unit: fc.constantFrom("a", "A", ".", "-", "/", "é", "\ud800", "\ud801"), maxLength: 6 }),
  fc.string({ unit: fc.constantFrom("a", "b"), minLength: 250, maxLength: 260 }),
);

describe("objectName", () => {
  it("keeps names that are valid", () => {
    for (const name of ["a", "web-1", "example.com", "a".repeat(253)]) expect(objectName(name)).to.equal(name);
  });

  it("shows what it can of other keys, before a hash", () => {
    for (const [key, start] of [
      ["Ann@Example.com", "ann-example.com"],
      ["/srv/Data/../file_1.txt", "srv-data-file-1.txt"],
      ["Web", "web"],
      ["--.x.--", "x"],
      ["naïve", "na-ve"],
    ] as const)
      expect(objectName(key)).to.match(new RegExp(`^${start.replaceAll(".", "\\.")}-[0-9a-f]{16}$`));
    for (const key of ["", "日本", "..", "\ud800"]) expect(objectName(key)).to.match(/^[0-9a-f]{16}$/);
  });

  it("is the same in every release: names are in clients' manifests", () => {
    expect(objectName("Ann@example.com")).to.equal("ann-example.com-82ea3dbb6e4571b0");
  });

  it("returns a valid name for every key", () => {
    fc.assert(fc.property(KEY, (key) => void expect(nameProblems(objectName(key)), key).to.deep.equal([])));
  });

  it("never returns one name for two keys, not even for a name that it has made", () => {
    fc.assert(
      fc.property(fc.uniqueArray(KEY, { minLength: 2, maxLength: 50 }), (keys) => {
        // Names of names, too: a key may look like a name that was made from another one.
        const all = new Set(keys.flatMap((key) => [key, objectName(key), objectName(objectName(key))]));
        expect(new Set([...all].map(objectName)).size).to.equal(all.size);
      }),
    );
  });

  it("takes time in proportion to the key", () => {
    const began = computed();
    objectName(`${"-.".repeat(500_000)}x${".-".repeat(500_000)}`);
    expect(computed() - began).to.be.below(1_000 * slowness());
  });
});
