// Effects of kill -9 on etcd, and on a process of ours, under 64 writers: no acknowledged write is lost.
import { join } from "node:path";
import { Random } from "../../_support/random.ts";
import { EtcdCluster, type EtcdVersion } from "../support/etcd.ts";
import { Program } from "../support/program.ts";
import { Follower, Ledger, Load } from "./load.ts";

/** Short timeouts make the election of a single member quick, and a short log its restart. */
const QUICK = { "heartbeat-interval": 10, "election-timeout": 100, "snapshot-count": 2000 };
const MOST_WRITES = 400;

/** Kills etcd and restarts it over the same data, while the store and its watch stay open. */
export async function killEtcd(version: EtcdVersion, rounds: number): Promise<void> {
  const random = new Random(rounds);
  await using cluster = await EtcdCluster.start({ version, flags: QUICK });
  await using store = await cluster.store();
  const load = await Load.start(store);
  for (let round = 0; round < rounds; round++) {
    await load.more(1 + random.below(MOST_WRITES));
    await cluster.kill();
    cluster.launch();
  }
  await load.more(64);
  await load.end();
}

/** Kills a process of ours, and another one continues. */
export async function killWriters(version: EtcdVersion, rounds: number): Promise<void> {
  const random = new Random(rounds);
  await using cluster = await EtcdCluster.start({ version, flags: QUICK });
  const prefix = cluster.prefix();
  await using store = await cluster.store({ prefix });
  const base = await store.head();
  const live = new Follower(store, base);
  const ledger = new Ledger();
  for (let round = 0; round < rounds; round++) {
    await using writers = new Writers(ledger, { endpoints: cluster.endpoints, prefix });
    await writers.until("acknowledged writes", writers.enough(1 + random.below(MOST_WRITES)));
  }
  const head = await store.head();
  const replay = new Follower(store, base);
  await Promise.all([live.reaches(head), replay.reaches(head)]);
  ledger.check(live.history);
  ledger.check(replay.history);
}

/** Process with 64 writers, killed at the end of the block. */
class Writers extends Program {
  readonly #ledger: Ledger;

  constructor(ledger: Ledger, where: { readonly endpoints: readonly string[]; readonly prefix: string }) {
    const fixture = join(import.meta.dirname, "writers.fixture.ts");
    super(process.execPath, ["--conditions=@virtual-workspaces/source", fixture, JSON.stringify(where)]);
    this.#ledger = ledger;
  }

  /** Returns a condition for `until`: this many more writes have been acknowledged. */
  enough(count: number): () => boolean {
    const enough = this.#ledger.size + count;
    return () => this.#ledger.size >= enough;
  }

  protected override heard(line: string): void {
    const [writer = 0, count = 0, revision = 0] = line.split(" ").map(Number);
    this.#ledger.acknowledge(writer, count, revision);
  }
}
