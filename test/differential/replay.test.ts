// Plays what was recorded from the oracle against a view of ours: no Go needed.
import { expect } from "chai";
import { explain } from "./compare.ts";
import { INTENDED, type Intended, unintended } from "./intended.ts";
import { KINDS } from "./kinds.ts";
import { isLive } from "./live.ts";
import { Player } from "./play.ts";
import { answersOf, recordingOf } from "./recorded.ts";
import { type Subject, startSubject } from "./subject.ts";
import { TOPICS } from "./topics.ts";

describe("a view answers as Kubernetes does:", function () {
  this.timeout(20_000);
  let subject: Subject;
  let player: Player;
  const used = new Set<Intended>();

  before(async () => {
    subject = await startSubject(KINDS);
    player = new Player(subject);
  });

  after(async () => {
    player[Symbol.dispose]();
    await subject[Symbol.asyncDispose]();
  });

  for (const topic of TOPICS.filter(({ name }) => isLive(name))) {
    describe(topic.name, () => {
      const recording = recordingOf(topic);
      for (const one of topic.cases) {
        it(one.name, async () => {
          const answers = [answersOf(recording, one), await player.play(one)] as const;
          const others = unintended({ topic: topic.name, name: one.name }, answers, (entry) => used.add(entry));
          if (others.length > 0) throw new Error(explain(one, others));
        });
      }
    });
  }

  it("but for differences that are intended, all of which are still there", function () {
    if (process.env["TOPICS"] !== undefined) this.skip();
    expect(INTENDED.filter((entry) => !used.has(entry)).map(({ name }) => name)).to.deep.equal([]);
  });
});
