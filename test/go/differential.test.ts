// Plays all cases against the oracle: what is recorded must still be what it says. RECORD=1 records anew.
import { expect } from "chai";
import { differences, explain } from "../differential/compare.ts";
import { KINDS } from "../differential/kinds.ts";
import { type Oracle, startOracle } from "../differential/oracle.ts";
import { type Answer, Player } from "../differential/play.ts";
import { answersOf, record, recordingOf } from "../differential/recorded.ts";
import { TOPICS } from "../differential/topics.ts";
import { building } from "./support/build.ts";

describe("the oracle", function () {
  this.timeout(60_000);
  let oracle: Oracle;
  let player: Player;

  before(async function () {
    await building("oracle").call(this);
    oracle = await startOracle(KINDS);
    player = new Player(oracle);
  });

  after(async () => {
    player?.[Symbol.dispose]();
    await oracle?.[Symbol.asyncDispose]();
  });

  for (const topic of TOPICS) {
    it(`still answers as recorded: ${topic.name}`, async () => {
      const answers = new Map<string, readonly Answer[]>();
      for (const one of topic.cases) answers.set(one.name, await player.play(one));
      if (process.env["RECORD"] !== undefined) return record(topic, answers);
      const recording = recordingOf(topic);
      for (const one of topic.cases) {
        const found = differences(answersOf(recording, one), answers.get(one.name) ?? []);
        if (found.length > 0) throw new Error(explain(one, found));
      }
      expect(Object.keys(recording)).to.deep.equal(topic.cases.map(({ name }) => name));
      return undefined;
    });
  }
});
