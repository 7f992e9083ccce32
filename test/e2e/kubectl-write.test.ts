// The machine's kubectl writes, and the oldest one at hand: what people type, and what they read. KUBECTL_MATRIX adds others.
import { delimiter } from "node:path";
import { changeCases, deleteCases } from "./support/change-cases.ts";
import { kubectls, nameOf } from "./support/kubectls.ts";
import { createAndApplyCases } from "./support/write-cases.ts";

describe("kubectl writes", function () {
  this.timeout(120_000);
  const all = kubectls();
  const [own, oldest] = all;
  const named = (process.env["KUBECTL_MATRIX"] ?? "").split(delimiter);
  const found = all.filter((file) => file === own || file === oldest || named.includes(file));

  it(`was found: ${found.map(nameOf).join(", ") || "none on the PATH, none in KUBECTL_MATRIX"}`, function () {
    if (found.length === 0) this.skip();
  });

  for (const file of found) {
    describe(`as ${nameOf(file)}`, () => {
      createAndApplyCases(() => file);
      changeCases(() => file);
      deleteCases(() => file);
    });
  }
});
