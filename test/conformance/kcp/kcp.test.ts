// Plays all cases against a running kcp, whose admin.kubeconfig is in KCP_KUBECONFIG: its answers must still equal the
// recorded ones. RECORD=1 records them again. With VIEWS, our server serves the views of APIExports over kcp's workspaces.
// Their answers must equal the recorded ones, except for known differences. See README.md.

import type { Difference } from "../../differential/compare.ts";
import { differences } from "../../differential/compare.ts";
import type { Answer } from "../../differential/play.ts";
import { areasOf } from "./areas.ts";
import { KNOWN } from "./differences.ts";
import { explain, unknown } from "./known.ts";
import { Player } from "./play.ts";
import { answersOf, record, recordingOf } from "./recorded.ts";
import { OF_SHARDS } from "./shard-differences.ts";
import type { Case } from "./step.ts";
import { publishedBy, theirs, versionOf } from "./theirs.ts";

/** Creating a workspace takes kcp seconds, mostly of waiting. */
const AT_ONCE = 4;
const KUBECONFIG = process.env["KCP_KUBECONFIG"];
/** URL of the views, or `kcp` when kcp forwards requests to them. */
const VIEWS = process.env["VIEWS"];

if (KUBECONFIG !== undefined)
  describe("kcp still answers as recorded:", function () {
    this.timeout(1_800_000);

    for (const area of areasOf(process.env["AREAS"])) {
      it(area.name, async () => {
        const there = theirs(KUBECONFIG, VIEWS === "kcp" ? undefined : VIEWS);
        const subject = { ...there, published: await publishedBy(there) };
        using player = new Player(subject);
        const answers = new Map<string, readonly Answer[]>();
        const waiting = [...area.cases];
        const play = async (): Promise<void> => {
          for (let one = waiting.shift(); one !== undefined; one = waiting.shift())
            answers.set(one.name, await player.play(one));
        };
        await Promise.all(Array.from({ length: AT_ONCE }, play));
        if (process.env["RECORD"] !== undefined) return record(area, await versionOf(subject), answers);
        const recording = recordingOf(area);
        const found = area.cases.map((one): readonly [Case, Difference[]] => [
          one,
          difference(one, [answersOf(recording, one), answers.get(one.name) ?? []]),
        ]);
        const texts = found.flatMap(([one, others]) => (others.length === 0 ? [] : [explain(one, others)]));
        if (texts.length > 0) throw new Error(texts.join("\n\n"));
        return undefined;
      });
    }
  });

function difference(one: Case, answers: readonly [readonly Answer[], readonly Answer[]]): Difference[] {
  return VIEWS === undefined ? differences(...answers) : unknown(one, answers, { known: [...OF_SHARDS, ...KNOWN] });
}
