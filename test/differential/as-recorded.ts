// What was recorded from the oracle, played against something of ours: one test for each topic.
import { explain } from "./compare.ts";
import { unintended } from "./intended.ts";
import { type Answer, Player } from "./play.ts";
import { answersOf, recordingOf } from "./recorded.ts";
import type { Case } from "./step.ts";
import type { Subject } from "./subject.ts";
import { topicsOf } from "./topics.ts";

export interface Expectation {
  /** What the answers are without what the subject adds by itself. @default it adds nothing */
  readonly bare?: (answers: readonly Answer[]) => readonly Answer[];
  /** Whether this subject cannot play a case of a topic. @default it can all */
  readonly without?: (one: Case, topic: string) => boolean;
}

/** To be called in a suite. */
export function answersAsRecorded(start: () => Promise<Subject>, expectation: Expectation = {}): void {
  const { bare = (answers) => answers, without = () => false } = expectation;
  let subject: Subject;
  let player: Player;

  before(async () => {
    subject = await start();
    player = new Player(subject);
  });

  after(async () => {
    player?.[Symbol.dispose]();
    await subject?.[Symbol.asyncDispose]();
  });

  for (const topic of topicsOf(process.env["TOPICS"])) {
    it(topic.name, async () => {
      const recording = recordingOf(topic);
      const different: string[] = [];
      for (const one of topic.cases) {
        if (without(one, topic.name)) continue;
        const answers = [answersOf(recording, one), bare(await player.play(one))] as const;
        const others = unintended(one, answers, () => undefined);
        if (others.length > 0) different.push(explain(one, others));
      }
      if (different.length > 0) throw new Error(`${different.length} differ:\n${different.join("\n\n")}`);
    });
  }
}
