// Tests of the interface in packages/store/src/store.ts, which every engine passes.
import { describeClosing } from "./closing.ts";
import { describeCompaction } from "./compaction.ts";
import { describeHistories } from "./histories.ts";
import { describeKeeping } from "./keeping.ts";
import { describeLeases } from "./leases.ts";
import { describeProgress } from "./progress.ts";
import { describeReading } from "./reading.ts";
import { describeReopening } from "./reopening.ts";
import { describeSlowReaders } from "./slow-readers.ts";
import type { Engine } from "./subject.ts";
import { describeTransactions } from "./transactions.ts";
import { describeValues } from "./values.ts";
import { describeWatching } from "./watching.ts";

/** Defines the suites of an engine. Each test gets a new store. */
export function describeStore(name: string, engine: Engine): void {
  describe(`${name} implements Store:`, () => {
    describeReading(engine);
    describeTransactions(engine);
    describeValues(engine);
    describeWatching(engine);
    describeProgress(engine);
    describeSlowReaders(engine);
    describeCompaction(engine);
    describeLeases(engine);
    describeHistories(engine);
    describeKeeping(engine);
    describeClosing(engine);
    if (engine.durable === true) describeReopening(engine);
  });
}
