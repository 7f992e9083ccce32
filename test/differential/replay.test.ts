// Plays the recordings of the oracle against our view, without Go.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { root } from "../../tools/install.mjs";
import { explain } from "./compare.ts";
import { INTENDED, type Intended, unintended } from "./intended.ts";
import { KINDS } from "./kinds.ts";
import { type Answer, Player } from "./play.ts";
import { answersOf, recordingOf } from "./recorded.ts";
import { describeStep } from "./step.ts";
import { type Subject, startSubject } from "./subject.ts";
import { TOPICS, topicsOf } from "./topics.ts";

const ASKED = topicsOf(process.env["TOPICS"]);
const CONFORMANCE = join(root, "docs/reference/conformance.md");

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

  for (const topic of ASKED) {
    describe(topic.name, () => {
      const recording = recordingOf(topic);
      for (const one of topic.cases) {
        it(one.name, async () => {
          const answers = [answersOf(recording, one), await player.play(one)] as const;
          const others = unintended(one, answers, (entry) => used.add(entry));
          if (others.length > 0) throw new Error(explain(one, others));
        });
      }
    });
  }

  // Separate suites run after the topics.
  describe("intended differences from Kubernetes", () => {
    it("all still exist", function () {
      if (ASKED !== TOPICS) this.skip();
      expect(INTENDED.filter((entry) => !used.has(entry)).map(({ name }) => name)).to.deep.equal([]);
    });

    it("hide no failure of ours", () => {
      const failure: Answer = { status: 500, body: { kind: "Status", status: "Failure", message: "broken" } };
      const hidden = TOPICS.flatMap((topic) => {
        const recording = recordingOf(topic);
        return topic.cases.flatMap((one) => {
          const theirs = answersOf(recording, one);
          const found = unintended(one, [theirs, theirs.map(() => failure)]).map(({ at }) => Number.parseInt(at, 10));
          return one.steps.filter((_, at) => !found.includes(at + 1)).map(describeStep);
        });
      });
      expect(hidden).to.deep.equal([]);
    });

    it("are listed in docs/reference/conformance.md", () => {
      const rows = [...readFileSync(CONFORMANCE, "utf8").matchAll(/^\| (.+?) \|/gm)].map(([, name]) => name);
      const documented = rows.filter((name) => name !== "difference");
      expect(documented).to.have.members(INTENDED.map(({ name }) => name));
    });
  });
});

describe("the topics of a run", () => {
  it("are those in TOPICS or all by default, and a misspelled topic is an error", () => {
    expect(topicsOf("apply,update").map(({ name }) => name)).to.deep.equal(["apply", "update"]);
    expect(topicsOf(undefined)).to.equal(TOPICS);
    expect(() => topicsOf("apply,updat")).to.throw('unknown topic "updat": use one of create, bodies, ');
  });
});
