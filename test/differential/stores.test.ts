// What was recorded from the oracle, over the stores of this process: where objects are kept makes no difference.
import { memoryStore } from "@virtual-workspaces/store";
import { answersAsRecorded } from "./as-recorded.ts";
import { KINDS } from "./kinds.ts";
import { startOverStore } from "./subject.ts";

describe("objects in a store in memory answer as Kubernetes does:", function () {
  this.timeout(20_000);
  answersAsRecorded(() => startOverStore(KINDS, memoryStore()));
});
