// What was recorded from the oracle, through writable views: a lens answers as Kubernetes does, or it is none.
import { defineResource, SOURCE_VERSION_ANNOTATION, view, type WritableSource } from "@virtual-workspaces/framework";
import { explain } from "./compare.ts";
import { unintended } from "./intended.ts";
import { KINDS } from "./kinds.ts";
import { Player } from "./play.ts";
import { answersOf, recordingOf } from "./recorded.ts";
import { type Between, type Subject, startSubject } from "./subject.ts";
import { topicsOf } from "./topics.ts";

const WAYS: Readonly<Record<string, Between>> = {
  "a view of the same kind": (stored) =>
    view({ from: stored.collection({ garbageCollected: true }) as WritableSource, unmap: (object) => object }),
  "a view of another kind": (stored) => {
    const { group, version, scope, schema, subresources, gracePeriodSeconds, plural } = stored;
    const options = { group, version, scope, schema, subresources, gracePeriodSeconds, plural: `kept${plural}` };
    const kept = defineResource({ ...options, kind: "Kept" }).collection({ garbageCollected: true });
    return view({
      from: kept as WritableSource,
      to: stored as never,
      map: (object) => object as never,
      unmap: (object) => object as never,
    }) as never;
  },
};

/** An object of a view always has annotations, and a patch can tell. */
const TELLING = "with escapes";

/** The answers without what a view says by itself. */
function bare<T>(value: T): T {
  if (Array.isArray(value)) return value.map(bare) as T;
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).flatMap(([name, member]) => {
    if (name !== "annotations" || !Object.hasOwn(member ?? {}, SOURCE_VERSION_ANNOTATION))
      return [[name, bare(member)]];
    const { [SOURCE_VERSION_ANNOTATION]: _version, ...annotations } = member;
    return Object.keys(annotations).length === 0 ? [] : [[name, annotations]];
  });
  return Object.fromEntries(entries);
}

for (const [name, between] of Object.entries(WAYS)) {
  describe(`${name} answers as Kubernetes does:`, function () {
    this.timeout(20_000);
    let subject: Subject;
    let player: Player;

    before(async () => {
      subject = await startSubject(KINDS, between);
      player = new Player(subject);
    });

    after(async () => {
      player[Symbol.dispose]();
      await subject[Symbol.asyncDispose]();
    });

    for (const topic of topicsOf(process.env["TOPICS"])) {
      it(topic.name, async () => {
        const recording = recordingOf(topic);
        const different: string[] = [];
        for (const one of topic.cases) {
          if (one.name === TELLING) continue;
          const answers = [answersOf(recording, one), bare(await player.play(one))] as const;
          const others = unintended(one, answers, () => undefined);
          if (others.length > 0) different.push(explain(one, others));
        }
        if (different.length > 0) throw new Error(`${different.length} differ:\n${different.join("\n\n")}`);
      });
    }
  });
}
