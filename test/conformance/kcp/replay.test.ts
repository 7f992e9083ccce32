// Replays the requests recorded from a kcp against our workspace server, without a kcp.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { root } from "../../../tools/install.mjs";
import { AREAS, areasOf } from "./areas.ts";
import { KNOWN } from "./differences.ts";
import type { Known } from "./found.ts";
import { explain, unknown } from "./known.ts";
import { startOurs } from "./ours.ts";
import { Player, type Subject } from "./play.ts";
import { answersOf, recordingOf } from "./recorded.ts";

const ASKED = areasOf(process.env["AREAS"]);
const CONFORMANCE = join(root, "docs/reference/kcp/answers.md");

describe("a workspace server answers as kcp does:", function () {
  this.timeout(60_000);
  let subject: Subject & AsyncDisposable;
  let player: Player;
  const used = new Set<Known>();

  before(async () => {
    subject = await startOurs();
    player = new Player(subject);
  });

  after(async () => {
    player?.[Symbol.dispose]();
    await subject?.[Symbol.asyncDispose]();
  });

  for (const area of ASKED) {
    describe(area.name, () => {
      const recording = recordingOf(area);
      for (const one of area.cases) {
        it(one.name, async () => {
          const answers = [answersOf(recording, one), await player.play(one)] as const;
          const others = unknown(one, answers, { used: (entry) => used.add(entry) });
          if (others.length > 0) throw new Error(explain(one, others));
        });
      }
    });
  }

  // Separate suites run after the areas.
  describe("known differences from kcp", () => {
    it("all still exist", function () {
      if (ASKED !== AREAS) this.skip();
      expect(KNOWN.filter((entry) => !used.has(entry)).map(({ name }) => name)).to.deep.equal([]);
    });

    it("are listed in docs/reference/kcp/answers.md", () => {
      const [text = ""] = readFileSync(CONFORMANCE, "utf8").split("\n## Next\n");
      const names = (text.match(/^- .*/gm) ?? []).map((item) => /^- \*\*(.+?)\.\*\* /.exec(item)?.[1] ?? item);
      expect(names).to.have.members(KNOWN.map(({ name }) => name));
    });
  });
});
