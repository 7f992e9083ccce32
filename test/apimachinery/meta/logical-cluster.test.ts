import {
  baseName,
  isClusterName,
  isWorkspacePath,
  joinWorkspacePath,
  parentPath,
  splitWorkspacePath,
  WILDCARD,
} from "@virtual-workspaces/apimachinery";
import { expect } from "chai";
import fc from "fast-check";

const segment = fc.stringMatching(/^[a-z0-9]([a-z0-9-]{0,10}[a-z0-9])?$/).filter((text) => text !== "system");
const path = fc.array(segment, { minLength: 1, maxLength: 6 }).map((segments) => segments.join(":"));

describe("isClusterName", () => {
  for (const name of ["root", "2x3y4z", "a", "a-b", "system:admin", "system:bound-crds", "a".repeat(63)]) {
    it(`accepts ${name}`, () => expect(isClusterName(name)).to.equal(true));
  }
  for (const name of [
    "",
    "*",
    "root:org",
    "-a",
    "a-",
    "A",
    "a_b",
    "a.b",
    "a/b",
    "..",
    "a\n",
    "system:",
    "system:../x",
  ]) {
    it(`rejects ${JSON.stringify(name)}`, () => expect(isClusterName(name)).to.equal(false));
  }
  it("rejects 64 characters", () => expect(isClusterName("a".repeat(64))).to.equal(false));
});

describe("isWorkspacePath", () => {
  for (const text of ["root", "root:org", "root:a:b:c", "33bab531:invoices", "system:admin", "a:b"]) {
    it(`accepts ${text}`, () => expect(isWorkspacePath(text)).to.equal(true));
  }
  for (const text of [
    "",
    ":",
    "root:",
    ":root",
    "root::a",
    "root:A",
    "root:a_b",
    "root:-a",
    "root:*",
    WILDCARD,
    "a b",
  ]) {
    it(`rejects ${JSON.stringify(text)}`, () => expect(isWorkspacePath(text)).to.equal(false));
  }
  it("rejects a segment of 64 characters", () => expect(isWorkspacePath(`root:${"a".repeat(64)}`)).to.equal(false));
});

describe("a workspace path", () => {
  it("equals its parent joined with its base name", () => {
    expect(parentPath("root:org:team")).to.equal("root:org");
    expect(baseName("root:org:team")).to.equal("team");
    fc.assert(
      fc.property(path, (text) => {
        expect(joinWorkspacePath(parentPath(text) ?? "", baseName(text))).to.equal(text);
      }),
    );
  });

  it("equals its names joined, and each join is a path", () => {
    fc.assert(
      fc.property(path, path, (a, b) => {
        expect(joinWorkspacePath(...splitWorkspacePath(a))).to.equal(a);
        const joined = joinWorkspacePath(a, b);
        expect(isWorkspacePath(joined)).to.equal(true);
        expect(splitWorkspacePath(joined)).to.deep.equal([...splitWorkspacePath(a), ...splitWorkspacePath(b)]);
      }),
    );
  });

  it("has no parent if it is a single name", () => {
    expect(parentPath("root")).to.equal(undefined);
    expect(baseName("root")).to.equal("root");
  });

  it("has one name if it is a system name", () => {
    expect(splitWorkspacePath("system:admin")).to.deep.equal(["system:admin"]);
    expect(parentPath("system:admin")).to.equal(undefined);
    expect(baseName("system:admin")).to.equal("system:admin");
  });

  it("may be empty, without names", () => {
    expect(splitWorkspacePath("")).to.deep.equal([]);
    expect(joinWorkspacePath()).to.equal("");
    expect(joinWorkspacePath("", "root", "")).to.equal("root");
  });
});
