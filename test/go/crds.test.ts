// Valid and invalid CustomResourceDefinitions at Kubernetes' own server: its answers must still equal the recorded ones.
// RECORD=1 records them again.

import { expect } from "chai";
import { startOracle } from "../differential/oracle.ts";
import { CASES } from "../workspace-server/crds/cases.ts";
import { Judge, type Verdict } from "../workspace-server/crds/judge.ts";
import { record, recorded } from "../workspace-server/crds/recorded.ts";
import { building } from "./support/build.ts";

describe("CustomResourceDefinitions at the oracle", function () {
  this.timeout(300_000);
  before(building("oracle"));

  it("get the recorded answers", async () => {
    await using oracle = await startOracle([]);
    using judge = new Judge(oracle);
    const verdicts: Record<string, Verdict> = {};
    for (const one of CASES) verdicts[one.name] = await judge.judge(one);
    if (process.env["RECORD"] !== undefined) record(verdicts);
    expect(verdicts).to.deep.equal(recorded());
  });
});
