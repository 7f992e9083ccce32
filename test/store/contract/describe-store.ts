// The contract of packages/store/src/store.ts as tests: what every engine passes, whatever it is made of.
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

/** The suites that an engine must pass, each test with a fresh store. */
export function describeStore(name: string, engine: Engine): void {
  describe(`${name} keeps the contract of a store:`, () => {
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
