// Requirements on one hop of a proxy for Kubernetes, over either engine; also what an engine cannot do. The guide has the
// same table.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { root } from "../../../tools/install.mjs";
import { ANSWERS } from "./answers.ts";
import { ENGINES, type EngineName } from "./bed.ts";
import { CONNECTIONS } from "./connections.ts";
import { REQUESTS } from "./requests.ts";
import type { Row } from "./rows.ts";
import { UPGRADES } from "./upgrades.ts";

const ROWS: readonly Row[] = [...REQUESTS, ...ANSWERS, ...CONNECTIONS, ...UPGRADES];
const NAMES = Object.keys(ENGINES) as EngineName[];

for (const name of NAMES) {
  describe(`the proxy over ${name}`, () => {
    // `http-proxy` makes Node warn about deprecated calls, once in a process, as the guide states.
    before(() => {
      if (name === "http-proxy") process.noDeprecation = true;
    });
    after(() => {
      process.noDeprecation = false;
    });
    for (const { what, does, instead } of ROWS) {
      const other = instead?.[name];
      if (other === undefined) it(what, () => does(name));
      else it(`does not: ${what}`, () => other());
    }
  });
}

it("the reference of proxy engines states what each engine does", () => {
  const guide = readFileSync(join(root, "docs/reference/proxy-engines.md"), "utf8");
  const told = [...guide.matchAll(/^\| (.+?) \| (yes|no)\b.*? \| (yes|no)\b.*? \|$/gm)].map(([, ...cells]) => cells);
  const shown = ROWS.map(({ what, instead }) => [what, ...NAMES.map((name) => (instead?.[name] ? "no" : "yes"))]);
  expect(told).to.deep.equal(shown);
});
