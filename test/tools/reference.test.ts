import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { root } from "../../tools/install.mjs";
import { referencePages } from "../../tools/reference.mjs";

describe("generated reference pages", () => {
  for (const page of ["docs/reference/command-line.md", "docs/reference/objects.md"])
    it(`${page} shows the flags and schemas of the sources (UPDATE_SNAPSHOTS=1 writes it)`, async () => {
      const text = (await referencePages())[page] ?? "";
      if (process.env["UPDATE_SNAPSHOTS"] === "1") writeFileSync(join(root, page), text);
      expect(text).to.have.length.above(10_000);
      expect(readFileSync(join(root, page), "utf8")).to.equal(text);
    });
});
