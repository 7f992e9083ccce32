// Plays all cases against the oracle, whose answers must still equal the recorded ones. Then plays random histories against
// the oracle and our server, by default always the same. RECORD=1 records again, SEED=… sets the first seed, SECONDS=… plays
// other histories for that time.
import { expect } from "chai";
import type { Target } from "../differential/caller.ts";
import { type Difference, differences, explain } from "../differential/compare.ts";
import { history } from "../differential/history.ts";
import { unintended } from "../differential/intended.ts";
import { KINDS } from "../differential/kinds.ts";
import { startOracle } from "../differential/oracle.ts";
import { type Answer, Player } from "../differential/play.ts";
import { answersOf, record, recordingOf } from "../differential/recorded.ts";
import { shrink } from "../differential/shrink.ts";
import type { Case } from "../differential/step.ts";
import { startSubject } from "../differential/subject.ts";
import { TOPICS } from "../differential/topics.ts";
import { building } from "./support/build.ts";

const HISTORIES = Number(process.env["HISTORIES"] ?? 1000);

describe("the oracle", function () {
  this.timeout(60_000);
  let oracle: Target & AsyncDisposable;
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

  it("agrees with our server on random histories", async function () {
    const { SEED, SECONDS } = process.env;
    const end = performance.now() + 1000 * Number(SECONDS);
    this.timeout(SECONDS === undefined ? 240_000 : 1000 * Number(SECONDS) + 120_000);
    await using subject = await startSubject(KINDS);
    using ours = new Player(subject);
    const compare = async (one: Case): Promise<Difference[]> => {
      const [expected, actual] = await Promise.all([player.play(one), ours.play(one)]);
      return unintended(one, [expected, actual]).filter((difference) => !isUnlucky(difference));
    };
    const first = Number(SEED ?? (SECONDS === undefined ? 1 : Date.now() % 1_000_000_000));
    for (let seed = first; SECONDS === undefined ? seed < first + HISTORIES : performance.now() < end; seed++) {
      const whole = history(seed);
      if ((await compare(whole)).length === 0) continue;
      const small = await shrink(whole, async (smaller) => (await compare(smaller)).length > 0);
      throw new Error(`SEED=${seed} ${whole.name}${explain(small, await compare(small))}`);
    }
  });
});

/** For an apply of unknown types, Kubernetes reports only some fields, depending on the order of Go's maps. */
function isUnlucky({ expected, actual }: Difference): boolean {
  return [expected, actual].every((message) => /^failed to create typed patch object/.test(String(message)));
}
