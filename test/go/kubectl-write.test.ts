// The newest kubectl writes like the installed ones, in the cases of test/e2e.
import { changeCases, deleteCases } from "../e2e/support/change-cases.ts";
import { coreKindCases } from "../e2e/support/core-cases.ts";
import { createAndApplyCases } from "../e2e/support/write-cases.ts";
import { building } from "./support/build.ts";
import { builtKubectl } from "./support/kubectl.ts";

describe("kubectl, built from its module, writes", function () {
  this.timeout(120_000);
  before(building("clients"));

  createAndApplyCases(builtKubectl);
  changeCases(builtKubectl);
  deleteCases(builtKubectl);
  coreKindCases(builtKubectl);
});
