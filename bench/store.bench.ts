// objects in a store on disk: creates, GET, LIST, replay through the API, against bare handlers over the bare engine; opening; memory
import { join } from "node:path";
import { report } from "./_harness/report.ts";
import { storeFigures } from "./_harness/store-figures.ts";
import { opening } from "./_harness/store-open.ts";
import { compete } from "./_harness/store-rivalry.ts";
import { tempFolder } from "./_harness/temp-folder.ts";

const short = process.argv.includes("--short");
const folder = tempFolder();
const engine = "lmdb";
const place = (name: string) => ({ dir: join(folder, name) });
const events = short ? 20_000 : 100_000;
const places = { ours: place("ours"), bare: place("bare") };
const time = short ? { rounds: 3, milliseconds: 600 } : { rounds: 5, milliseconds: 700 };
const outcome = await compete({ engine, places, events, ...time });
const figures = storeFigures(outcome, { events, engine, goal: { atLeast: 0.4 } });
const [keys, listed] = short ? [100_000, 20_000] : [1_000_000, 100_000];
report("store", [...figures, ...(await opening({ engine, place: place("many"), keys, listed }))]);
