// Plays the recordings of the oracle against our implementation: one test for each topic.
import { explain } from "./compare.ts";
import { unintended } from "./intended.ts";
import { type Answer, Player } from "./play.ts";
import { answersOf, recordingOf } from "./recorded.ts";
import type { Case } from "./step.ts";
import type { Subject } from "./subject.ts";
import { topicsOf } from "./topics.ts";

export interface Expectation {
  /** Removes from answers what the subject itself adds. @default nothing */
  readonly bare?: (answers: readonly Answer[]) => readonly Answer[];
  /** Returns whether this subject cannot play a case of a topic. @default it can play all */
  readonly without?: (one: Case, topic: string) => boolean;
}

/** Defines the tests; call it within a suite. */
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
