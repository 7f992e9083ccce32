// What was recorded from Kubernetes, in a workspace whose objects are on disk.
import { rm } from "node:fs/promises";
import { lmdbStore } from "@virtual-workspaces/store";
import { memoryFolder } from "../_support/memory-folder.ts";
import { answersAsRecorded } from "../differential/as-recorded.ts";
import { KINDS } from "../differential/kinds.ts";
import { isOtherInWorkspace, placeless, startInWorkspace } from "./support/differential.ts";

describe("custom kinds in a workspace on disk answer as Kubernetes does:", function () {
  this.timeout(60_000);
  let dir: string;

  before(async () => {
    dir = await memoryFolder("workspace-differential-");
  });

  after(() => rm(dir, { recursive: true }));

  answersAsRecorded(async () => startInWorkspace(KINDS, await lmdbStore({ dir })), {
    bare: placeless,
    without: isOtherInWorkspace,
  });
});
