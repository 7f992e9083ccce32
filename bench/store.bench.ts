// objects in a store on disk: creates, GET, LIST, replay through the API, against bare handlers over the bare engine; opening; memory
import { report } from "./_harness/report.ts";
import { storeFigures } from "./_harness/store-figures.ts";
import { opening } from "./_harness/store-open.ts";
import { compete } from "./_harness/store-rivalry.ts";
import { tempFolder } from "./_harness/temp-folder.ts";

const short = process.argv.includes("--short");
const folder = tempFolder();
const events = short ? 20_000 : 100_000;
const outcome = await compete({ folder, events, rounds: short ? 3 : 5 });
const figures = storeFigures(outcome, { events, engine: "lmdb", goal: { atLeast: 0.4 } });
const many = await opening({ folder, keys: short ? 100_000 : 1_000_000, listed: short ? 20_000 : 100_000 });
report("store", [...figures, ...many]);
