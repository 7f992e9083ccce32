// Writes with the machine's kubectl and the oldest available one: commands and their output. KUBECTL_MATRIX adds others.
import { delimiter } from "node:path";
import { changeCases, deleteCases } from "./support/change-cases.ts";
import { coreKindCases } from "./support/core-cases.ts";
import { kubectls, nameOf } from "./support/kubectls.ts";
import { createAndApplyCases } from "./support/write-cases.ts";

describe("kubectl writes", function () {
  this.timeout(120_000);
  const all = kubectls();
  const [own, oldest] = all;
  const named = (process.env["KUBECTL_MATRIX"] ?? "").split(delimiter);
  const found = all.filter((file) => file === own || file === oldest || named.includes(file));

  it(`is found: ${found.map(nameOf).join(", ") || "none on the PATH, none in KUBECTL_MATRIX"}`, function () {
    if (found.length === 0) this.skip();
  });

  for (const file of found) {
    describe(`as ${nameOf(file)}`, () => {
      createAndApplyCases(() => file);
      changeCases(() => file);
      deleteCases(() => file);
      coreKindCases(() => file);
    });
  }
});
