// Metrics of quotas, with Kubernetes' names, and the resync by the server's clock.
import { systemClock } from "@virtual-workspaces/transport";
import type { ServerClock } from "@virtual-workspaces/workspace-server";
import { expect } from "chai";
import { parseExposition } from "../../_support/exposition.ts";
import { until } from "../../_support/until.ts";
import { makeWorkspace } from "../support/logical-clusters.ts";
import { startWorkspaces, type Workspaces } from "../support/workspaces.ts";
import { makeMap, makeQuota, quotasIn, untilRootCa, untilUsed } from "./support.ts";

/** The machine's clock, except for waits of minutes: these end when a test says so. */
class PatientClock implements ServerClock {
  readonly #long = new Map<() => void, number>();

  now(): number {
    return systemClock.now();
  }

  date(): number {
    return Date.now();
  }

  after(ms: number, ring: () => void): Disposable {
    if (ms < 60_000) return systemClock.after(ms, ring);
    this.#long.set(ring, ms);
    return { [Symbol.dispose]: () => void this.#long.delete(ring) };
  }

  /** Ends all waits of a length. @returns their number */
  ring(ms: number): number {
    const due = [...this.#long].filter(([, length]) => length === ms);
    for (const [ring] of due) {
      this.#long.delete(ring);
      ring();
    }
    return due.length;
  }
}

const RESYNC = 300_000;

describe("quotas", function () {
  this.timeout(30_000);
  let server: Workspaces;
  let cluster: string;
  const clock = new PatientClock();

  before(async () => {
    server = await startWorkspaces(undefined, { clock });
    cluster = await makeWorkspace(server, "org");
    await untilRootCa(server, cluster);
    await makeQuota(server, cluster, { name: "q", hard: { "count/configmaps": "2" } });
    await untilUsed(server, `${quotasIn(cluster)}/q`, { "count/configmaps": "1" });
  });
  after(() => server[Symbol.asyncDispose]());

  /** Returns the value of a series, 0 while it is missing. */
  const value = async (family: string, series: string): Promise<number> => {
    const families = parseExposition((await server.get("/metrics", { user: "root" })).text);
    return families.get(family)?.series.get(series) ?? 0;
  };

  it("count admitted and rejected creates in Kubernetes' metric of admission", async () => {
    const family = "apiserver_admission_controller_admission_duration_seconds";
    const count = (rejected: boolean): Promise<number> =>
      value(family, `${family}_count{name="ResourceQuota",operation="CREATE",rejected="${rejected}",type="validate"}`);
    const before = [await count(false), await count(true)];
    expect((await makeMap(server, cluster, "a")).status).to.equal(201);
    expect((await makeMap(server, cluster, "b")).status).to.equal(403);
    const after = [await count(false), await count(true)];
    expect(after.map((number, at) => number - (before[at] ?? 0))).to.deep.equal([1, 1]);
  });

  it("are counted again every five minutes of the server's clock, which metrics of the controller's queue show", async () => {
    const label = '{name="resourcequota_primary"}';
    const adds = (): Promise<number> => value("workqueue_adds_total", `workqueue_adds_total${label}`);
    const worked = (): Promise<number> =>
      value("workqueue_work_duration_seconds", `workqueue_work_duration_seconds_count${label}`);
    await until(async () => (await adds()) === (await worked()) && (await adds()) > 0);
    for (let round = 0; round < 2; round++) {
      const before = await adds();
      expect(clock.ring(RESYNC)).to.equal(1);
      await until(async () => (await worked()) === before + 1);
      expect(await adds()).to.equal(before + 1);
    }
    expect(await value("workqueue_depth", `workqueue_depth${label}`)).to.equal(0);
  });
});
