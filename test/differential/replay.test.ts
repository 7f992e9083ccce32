// Plays what was recorded from the oracle against a view of ours: no Go needed.
import { expect } from "chai";
import { differences, explain } from "./compare.ts";
import { INTENDED, intention } from "./intended.ts";
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
  const stale = new Set(INTENDED.filter(({ topic }) => isLive(topic)));

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
          const found = differences(answersOf(recording, one), await player.play(one));
          const others = found.filter((difference) => {
            const intended = intention(topic.name, one.name, difference);
            if (intended !== undefined) stale.delete(intended);
            return intended === undefined;
          });
          if (others.length > 0) throw new Error(explain(one, others));
        });
      }
    });
  }

  it("but for differences that are intended, all of which are still there", () => {
    expect([...stale].map(({ topic, at, reason }) => `${topic} ${at}: ${reason}`)).to.deep.equal([]);
  });
});
