// The state table of a Space: every situation has a row, and no row violates an invariant.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { rowOf, type Situation, type Step, TABLE } from "../../../packages/plugins/spaces/src/manager/table.ts";
import { root } from "../../../tools/install.mjs";

const BOTH = [false, true] as const;

function* situations(): Generator<Situation> {
  for (const type of ["managed", "unmanaged", "imported"] as const)
    for (const seen of ["unprovided", "unknown", "absent", "initializing", "ready"] as const)
      for (const deleting of BOTH)
        for (const was of BOTH)
          for (const answered of BOTH)
            for (const held of BOTH)
              for (const discovered of BOTH)
                for (const wanted of BOTH)
                  if (type !== "imported" || seen !== "unprovided")
                    yield { type, seen, deleting, was, answered, held, discovered, wanted };
}

describe("state table of a Space", () => {
  it("has a row for every situation, and no unused row", () => {
    const used = new Set([...situations()].map((situation) => rowOf(situation)));
    expect(TABLE.filter((row) => !used.has(row)).map(({ when }) => when)).to.deep.equal([]);
  });

  it("creates, deletes and drops only what the manager owns", () => {
    for (const situation of situations()) {
      const { steps, phase } = rowOf(situation);
      const has = (step: Step): boolean => steps.includes(step);
      const text = JSON.stringify(situation);
      const { type, deleting, held, seen, discovered, was } = situation;
      if (has("create")) expect([type, deleting, seen, was], text).to.deep.equal(["managed", false, "absent", false]);
      if (has("remove")) expect([type, deleting, held], text).to.deep.equal(["managed", true, true]);
      // An unknown state, or an unreachable provider, is no reason to delete.
      if (has("drop")) {
        expect([type, deleting, discovered], text).to.deep.equal(["unmanaged", false, true]);
        expect(seen !== "unknown" || !situation.wanted, text).to.equal(true);
      }
      if (has("withdraw")) expect(deleting || seen === "absent", text).to.equal(true);
      if (has("publish")) expect([seen, phase, deleting], text).to.deep.equal(["ready", "Ready", false]);
      if (has("create")) expect(steps.indexOf("hold"), text).to.be.lessThan(steps.indexOf("create")).and.at.least(0);
      if (has("remove")) expect(steps.indexOf("release"), text).to.be.greaterThan(steps.indexOf("remove"));
      if (phase === "Ready") expect(seen, text).to.equal("ready");
      if (type === "imported") expect(steps, text).to.deep.equal([]);
    }
  });

  it("is shown in the guide, row by row", () => {
    const guide = readFileSync(join(root, "docs/reference/spaces.md"), "utf8");
    const drawn = guide
      .split("\n")
      .filter(
        (line) => line.startsWith("| managed") || line.startsWith("| unmanaged") || line.startsWith("| imported"),
      );
    const told = ({ type, ...rest }: Partial<Situation>): string =>
      Object.entries(rest)
        .map(([name, value]) => (value === true ? name : value === false ? `not ${name}` : value))
        .join(", ") || "otherwise";
    const rows = TABLE.map(({ when, reason, phase, steps }) =>
      `| ${when.type} | ${told(when)} | ${phase === "keep" ? "as before" : `\`${phase}\``} | \`${reason}\` | ${steps.join(", ")} |`.replace(
        / {2}\|$/,
        " |",
      ),
    );
    expect(drawn).to.deep.equal(rows);
  });
});
