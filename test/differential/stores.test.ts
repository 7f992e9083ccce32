// Plays the recordings of the oracle over the stores of this process: the choice of store makes no difference.
import { rm } from "node:fs/promises";
import { view, type WritableSource } from "@virtual-workspaces/framework";
import { lmdbStore, memoryStore, persistent } from "@virtual-workspaces/store";
import { memoryFolder } from "../_support/memory-folder.ts";
import { answersAsRecorded } from "./as-recorded.ts";
import { KINDS } from "./kinds.ts";
import { bare, tells } from "./lens-answers.ts";
import { startOverStore, startSubject } from "./subject.ts";

describe("objects in a store in memory answer as Kubernetes does:", function () {
  this.timeout(20_000);
  answersAsRecorded(() => startOverStore(KINDS, memoryStore()));
});

describe("objects on disk answer as Kubernetes does:", function () {
  this.timeout(20_000);
  let dir: string;

  before(async () => {
    dir = await memoryFolder("differential-");
  });

  after(() => rm(dir, { recursive: true }));

  answersAsRecorded(async () => startOverStore(KINDS, await lmdbStore({ dir })));
});

describe("a view of objects in a store answers as Kubernetes does:", function () {
  this.timeout(20_000);
  answersAsRecorded(
    () =>
      startSubject(KINDS, (stored) => {
        const from = stored.collection(persistent(memoryStore(), { garbageCollected: true }));
        return view({ from: from as WritableSource, mapToSource: (object) => object });
      }),
    { bare, without: tells },
  );
});
