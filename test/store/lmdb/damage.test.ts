import { join } from "node:path";
import { expect } from "chai";
import { tree } from "../../_setup/tree.ts";
import { run } from "./child.ts";

const program = join(import.meta.dirname, "damage.fixture.ts");

/** Returns how often each result occurred for damaged copies of a store. */
async function outcomes(kind: string, count: number): Promise<Record<string, number>> {
  using folder = tree({});
  const args = [process.execPath, "--conditions=@virtual-workspaces/source", program, kind, String(count), folder.path];
  const { said, code, signal, errors } = await run(args);
  expect({ code, signal }, `the process has not died: ${errors}`).to.deep.equal({ code: 0, signal: null });
  expect(said).to.have.length(count);
  const counted: Record<string, number> = {};
  for (const outcome of said as string[]) counted[outcome] = (counted[outcome] ?? 0) + 1;
  return counted;
}

describe("a damaged store on LMDB", () => {
  for (const [kind, count] of [
    ["flip", 40],
    ["cut", 40],
  ] as const) {
    it(`fails with Damaged, or is intact: ${kind}`, async () => {
      const counted = await outcomes(kind, count);
      expect(Object.keys(counted), JSON.stringify(counted)).to.include("Damaged");
      expect(["Damaged", "whole"]).to.include.members(Object.keys(counted));
    }).timeout(60_000);
  }
});
