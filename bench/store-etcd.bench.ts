// objects in etcd: creates, GET, LIST, replay through the API, against a bare handler over a bare client of another like it; opening
import { join } from "node:path";
import { ETCD_REMEDY, findEtcd } from "../tools/etcd.mjs";
import { Remote } from "./_harness/remote.ts";
import { type Figure, report } from "./_harness/report.ts";
import { storeFigures } from "./_harness/store-figures.ts";
import { opening } from "./_harness/store-open.ts";
import { compete } from "./_harness/store-rivalry.ts";
import { tempFolder } from "./_harness/temp-folder.ts";
import type { Etcd } from "./_servers/etcd.ts";

const short = process.argv.includes("--short");
const file = findEtcd();
if (file === undefined) console.error(`no figures: ${ETCD_REMEDY}`);
report("store-etcd", file === undefined ? [] : await measure(file));

async function measure(file: string): Promise<Figure[]> {
  // One each: what both write to one etcd, both have to read past.
  await using ours = await Remote.start<Etcd>("etcd");
  await using theirs = await Remote.start<Etcd>("etcd");
  const folder = tempFolder();
  const place = async (etcd: Remote<Etcd>, name: string) => ({
    endpoint: await etcd.ask("start", { file, dir: join(folder, name) }),
    prefix: "/bench",
  });
  const places = { ours: await place(ours, "ours"), bare: await place(theirs, "bare") };
  const engine = "etcd";
  const events = short ? 5000 : 10_000;
  const time = short ? { rounds: 3, milliseconds: 600 } : { rounds: 5, milliseconds: 700 };
  const outcome = await compete({ engine, places, events, ...time });
  const figures = storeFigures(outcome, { events, engine, goal: { atLeast: 0.4 } });
  const [keys, listed] = short ? [20_000, 10_000] : [100_000, 20_000];
  return [...figures, ...(await opening({ engine, place: { ...places.ours, prefix: "/many" }, keys, listed }))];
}
