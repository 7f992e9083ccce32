// Why: valid and invalid definitions get the same response as from Kubernetes.
import { expect } from "chai";
import { CASES } from "./cases.ts";
import { INTENDED } from "./intended.ts";
import { Judge } from "./judge.ts";
import { recorded } from "./recorded.ts";
import { type Shard, startShard } from "./subject.ts";

describe("admission of CustomResourceDefinitions agrees with Kubernetes", () => {
  const verdicts = recorded();
  let shard: Shard;
  let judge: Judge;

  before(async () => {
    shard = await startShard();
    judge = new Judge({ url: `${shard.server.url}${shard.url("root")}`, headers: { authorization: "Bearer admin" } });
  });

  after(async () => {
    judge[Symbol.dispose]();
    await shard[Symbol.asyncDispose]();
  });

  for (const one of CASES)
    it(one.name, async () => {
      expect(await judge.judge(one)).to.deep.equal(INTENDED[one.name] ?? verdicts[one.name]);
    });
});
