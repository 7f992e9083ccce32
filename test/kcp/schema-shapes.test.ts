// Our kinds and kcp's accept and reject the same objects. shapes/ has the shapes of kcp's kinds, one file for each version of a
// kind. To record them again, from a folder with kcp's CustomResourceDefinitions (its patches applied): `KCP_CRDS=<folder> npm test
// -- test/kcp/schema-shapes.test.ts`
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Resource } from "@virtual-workspaces/framework";
import * as kcp from "@virtual-workspaces/kcp";
import { expect } from "chai";
import { kindsOfFolder } from "./support/crds.ts";
import { type Shaped, shapeName, shapeOf } from "./support/shape.ts";

const folder = fileURLToPath(new URL("shapes/", import.meta.url));

/** Fields whose rule kcp has on another field: see `UNCHANGED` in `claim-schemas.ts`. */
const MOVED_RULES: Readonly<Record<string, readonly string[]>> = {
  "apibindings.v1alpha2.apis.kcp.io": [".spec.permissionClaims[]", ".status.appliedPermissionClaims[]"],
};
const KCP_RULE = "  rule self == oldSelf\n  says Permission claim selector is immutable\n";
const OUR_RULE =
  '  rule self.group == "" || self.identityHash == "" || self.selector == oldSelf.selector\n' +
  "  says Permission claim selector is immutable\n";

/** Returns kcp's shape, with these rules where our kinds have them. */
function intended(name: string): string {
  let shape = readFileSync(`${folder}${name}.txt`, "utf8");
  for (const path of MOVED_RULES[name] ?? []) {
    const [claim, selector] = [lineOf(shape, path), lineOf(shape, `${path}.selector`)];
    expect(shape).to.contain(selector + KCP_RULE);
    shape = shape.replace(selector + KCP_RULE, selector).replace(claim, claim + OUR_RULE);
  }
  return shape;
}

/** Returns the line of a field, with its line break. */
function lineOf(shape: string, path: string): string {
  const found = shape.split("\n").find((line) => line.startsWith(`${path} `));
  expect(found, path).to.be.a("string");
  return `${found}\n`;
}

const exported = new Map<string, Shaped>(
  Object.values(kcp as Readonly<Record<string, unknown>>)
    .filter((value) => value instanceof Resource)
    // No kcp release has the kinds of its proposal.
    .filter((kind) => kind.group !== kcp.Mount.group)
    .map((kind) => [shapeName(kind), kind]),
);

const recorded = (): string[] =>
  readdirSync(folder)
    .map((file) => file.replace(/\.txt$/, ""))
    .sort();

describe("kcp's kinds", () => {
  before(() => {
    const crds = process.env["KCP_CRDS"];
    for (const kind of crds === undefined ? [] : kindsOfFolder(crds))
      writeFileSync(`${folder}${shapeName(kind)}.txt`, shapeOf(kind));
  });

  it("are complete", () => {
    expect([...exported.keys()].sort()).to.deep.equal(recorded());
  });

  for (const [name, kind] of exported) {
    it(`include ${name} with kcp's shape`, () => {
      expect(shapeOf(kind)).to.equal(intended(name));
    });
  }
});
