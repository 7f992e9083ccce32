import { join } from "node:path";
import { expect } from "chai";
import { sidebarFaults, sidebarOf } from "../../tools/docs/sidebar.mjs";
import { root } from "../../tools/install.mjs";
import { tree } from "../_setup/tree.ts";

const pages = (sidebar: string) =>
  tree({
    "sidebar.yaml": sidebar,
    "index.md": "# Home\n",
    "tutorials/one.md": "# The `first` one\n",
    "decisions/0001-a.md": "# A\n",
    "decisions/0002-b.md": "# B\n",
    "decisions/README.md": "# Decisions\n",
  });
const COMPLETE = "Tutorials: [tutorials/one]\nExplanation: [{ Decisions: [decisions/README, decisions/*] }]\n";

describe("docs/sidebar.yaml", () => {
  it("gives every page exactly one place", () => {
    expect(sidebarFaults(join(root, "docs"))).to.deep.equal([]);
  });

  it("has the four parts in order", () => {
    const parts = sidebarOf(join(root, "docs")).map(({ text }) => text);
    expect(parts).to.deep.equal(["Tutorials", "How-to guides", "Reference", "Explanation"]);
  });

  it("calls each page by its first heading, and shows the pages of a folder by name for *", () => {
    using folder = pages(COMPLETE);
    expect(sidebarFaults(folder.path)).to.deep.equal([]);
    expect(sidebarOf(folder.path)).to.deep.equal([
      { text: "Tutorials", collapsed: false, items: [{ text: "The first one", link: "/tutorials/one" }] },
      {
        text: "Explanation",
        collapsed: false,
        items: [
          {
            text: "Decisions",
            collapsed: true,
            items: [
              { text: "Decisions", link: "/decisions/README" },
              { text: "A", link: "/decisions/0001-a" },
              { text: "B", link: "/decisions/0002-b" },
            ],
          },
        ],
      },
    ]);
  });

  const faults: readonly (readonly [string, string, string])[] = [
    ["a page that it does not list", COMPLETE.replace("[tutorials/one]", "[]"), "docs/tutorials/one.md has no place"],
    ["an entry without a page", COMPLETE.replace("one]", "one, tutorials/two]"), "there is no docs/tutorials/two.md"],
    ["a page that it lists twice", COMPLETE.replace("one]", "one, tutorials/one]"), "lists tutorials/one twice"],
  ];
  for (const [title, sidebar, fault] of faults) {
    it(`reports ${title}`, () => {
      using folder = pages(sidebar);
      expect(sidebarFaults(folder.path).join("\n")).to.include(fault);
    });
  }
});
