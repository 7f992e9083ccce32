// Plays the recordings of the oracle through writable views, which must answer like Kubernetes.
import { defineResource, view, type WritableSource } from "@virtual-workspaces/framework";
import { answersAsRecorded } from "./as-recorded.ts";
import { KINDS } from "./kinds.ts";
import { bare, tells } from "./lens-answers.ts";
import { type Between, startSubject } from "./subject.ts";

const WAYS: Readonly<Record<string, Between>> = {
  "a view of the same kind": (stored) =>
    view({ from: stored.collection({ garbageCollected: true }) as WritableSource, mapToSource: (object) => object }),
  "a view of another kind": (stored) => {
    const { group, version, scope, schema, subresources, gracePeriodSeconds, plural } = stored;
    const options = { group, version, scope, schema, subresources, gracePeriodSeconds, plural: `kept${plural}` };
    const kept = defineResource({ ...options, kind: "Kept" }).collection({ garbageCollected: true });
    return view({
      from: kept as WritableSource,
      to: stored as never,
      map: (object) => object as never,
      mapToSource: (object) => object as never,
    }) as never;
  },
};

for (const [name, between] of Object.entries(WAYS)) {
  describe(`${name} answers as Kubernetes does:`, function () {
    this.timeout(20_000);
    answersAsRecorded(() => startSubject(KINDS, between), { bare, without: tells });
  });
}
